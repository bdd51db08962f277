// SPDX-License-Identifier: Apache-2.0
// What the assembly of kernels for Helium takes for granted of lanes and registers, to be seen on
// silicon too.
#include <stdint.h>

#include "boards/common/expect.h"

#define LANES 4

static void expect_lanes(const uint32_t lanes[LANES]) {
  for (uint32_t i = 0; i < LANES; ++i) EXPECT_EQUAL(lanes[i], 0x11U * (i + 1));
}

// The sums of gemm_blocks_s8_mve.c: the first register goes to the lower half of a D register.
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

// depthwise_by_16_s8_mve.c: VMULLB takes even lanes, VMULLT odd ones, VQMOVNB and VQMOVNT turn that
// back.
static void test_bottom_and_top(void) {
  int8_t values[16];
  int8_t order[16];
  for (int8_t i = 0; i < 16; ++i) values[i] = (int8_t)(i - 8);
  __asm__ volatile(
      "vldrb.u8 q0, [%0]\n\tvdup.8 q1, %1\n\tvmullb.s8 q2, q0, q1\n\tvmullt.s8 q3, q0, q1\n\t"
      "vqmovnb.s16 q0, q2\n\tvqmovnt.s16 q0, q3\n\tvstrb.8 q0, [%2]"
      :
      : "r"(values), "r"(-2), "r"(order)
      : "q0", "q1", "q2", "q3", "memory");
  for (int8_t i = 0; i < 16; ++i) EXPECT_EQUAL(order[i], -2 * (i - 8));
}

int main(void) {
  test_vmov_of_a_half();
  test_vmov_of_two_lanes();
  test_vctp_keeps_the_first();
  test_bottom_and_top();
  return expect_report();
}
