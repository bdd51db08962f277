// SPDX-License-Identifier: Apache-2.0
// What the assembly of kernels for Helium takes for granted of lanes and registers, to be seen on
// silicon too.
#include <stdint.h>

#include "boards/common/expect.h"

#define LANES 4

static void expect_lanes(const uint32_t lanes[LANES]) {
  for (uint32_t i = 0; i < LANES; ++i) EXPECT_EQUAL(lanes[i], 0x11U * (i + 1));
}

// The sums of gemm_blocks_s8_mve.c and depthwise_columns_s8_mve.c: the first register goes to the
// lower half of a D register.
static void test_vmov_of_a_half(void) {
  uint32_t lanes[LANES];
  __asm__ volatile("vmov d0, %1, %2\n\tvmov d1, %3, %4\n\tvstrw.32 q0, [%0]"
                   :
                   : "r"(lanes), "r"(0x11), "r"(0x22), "r"(0x33), "r"(0x44)
                   : "q0", "memory");
  expect_lanes(lanes);
}

// The form that names two lanes, which no kernel uses: the higher lane stands first, and gets the
// second register.
static void test_vmov_of_two_lanes(void) {
  uint32_t lanes[LANES];
  __asm__ volatile("vmov q0[2], q0[0], %1, %3\n\tvmov q0[3], q0[1], %2, %4\n\tvstrw.32 q0, [%0]"
                   :
                   : "r"(lanes), "r"(0x11), "r"(0x22), "r"(0x33), "r"(0x44)
                   : "q0", "memory");
  expect_lanes(lanes);
}

// The end of a row: VCTP keeps the first values, a predicated load makes the others 0.
static void test_vctp_keeps_the_first(void) {
  const uint32_t values[LANES] = {0x11, 0x22, 0x33, 0x44};
  uint32_t lanes[LANES];
  __asm__ volatile("vctp.32 %1\n\tvpst\n\tvldrwt.u32 q0, [%0]\n\tvstrw.32 q0, [%2]"
                   :
                   : "r"(values), "r"(3), "r"(lanes)
                   : "q0", "memory");
  EXPECT_EQUAL(lanes[3], 0);
  lanes[3] = values[3];
  expect_lanes(lanes);
}

// A pixel of depthwise_columns_s8_mve.c: VQMOVNB twice leaves each result in the lowest byte of its
// lane, which VSTRB.32 takes; VSTRB.16 with offsets takes those of halves.
static void test_lowest_bytes(void) {
  const int32_t values[LANES] = {5, -300, 300, -7};
  const uint16_t offsets[8] = {0, 3, 6, 9, 12, 15, 18, 21};
  int8_t stored[8] = {0};
  int8_t spread[24];
  __asm__ volatile(
      "vldrw.u32 q0, [%0]\n\tvqmovnb.s32 q0, q0\n\tvqmovnb.s16 q0, q0\n\tvstrb.32 q0, [%1]\n\t"
      "vldrb.s16 q0, [%1]\n\tvldrh.u16 q1, [%2]\n\tvstrb.16 q0, [%3, q1]"
      :
      : "r"(values), "l"(stored), "r"(offsets), "r"(spread)
      : "q0", "q1", "memory");
  const int8_t expected[LANES] = {5, INT8_MIN, INT8_MAX, -7};
  for (uint32_t i = 0; i < LANES; ++i) {
    EXPECT_EQUAL(stored[i], expected[i]);
    EXPECT_EQUAL(spread[3 * i], expected[i]);
  }
}

int main(void) {
  test_vmov_of_a_half();
  test_vmov_of_two_lanes();
  test_vctp_keeps_the_first();
  test_lowest_bytes();
  return expect_report();
}
