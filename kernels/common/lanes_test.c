// SPDX-License-Identifier: Apache-2.0
// Assumptions of the Helium kernels' assembly about lanes and registers. The test also runs on
// silicon.
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

// The form with two lanes, unused in kernels: the higher lane comes first, and gets the second
// register.
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
// lane, and VSTRB.32 stores it. VSTRB.16 with offsets stores the lowest bytes of halves.
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

// Requantization of depthwise_direct_s8_mve.c and depthwise_columns_s8_mve.c: VQDMLAH by 1
// subtracts one from values below zero.
static void test_vqdmlah_by_1(void) {
  const int32_t values[LANES] = {INT32_MAX, 0, -1, -INT32_MAX};
  int32_t lanes[LANES];
  __asm__ volatile("vldrw.u32 q0, [%0]\n\tvqdmlah.s32 q0, q0, %1\n\tvstrw.32 q0, [%2]"
                   :
                   : "r"(values), "r"(1), "r"(lanes)
                   : "q0", "memory");
  for (uint32_t i = 0; i < LANES; ++i) EXPECT_EQUAL(lanes[i], values[i] - (values[i] < 0));
}

// Sums of products: VMLADAVA adds those of 16 signed bytes to the register's value. All registers
// given by the assembly are even (r0, r2, … lr).
static void test_vmladava_adds(void) {
  int8_t x[16];
  int8_t w[16];
  for (int i = 0; i < 16; ++i) {
    x[i] = (int8_t)(i - 8);
    w[i] = (int8_t)(i % 2 == 0 ? -128 : 127);
  }
  int32_t sum = 1000;
  int32_t alone = 1000;
  const int8_t *at = x;
  __asm__ volatile(
      "mov r0, %0\n\tmov lr, %1\n\tvldrb.u8 q0, [%2], #16\n\tvldrb.u8 q1, [%3]\n\t"
      "vmladava.s8 r0, q0, q1\n\tvmladav.s8 lr, q0, q1\n\tmov %0, r0\n\tmov %1, lr"
      : "+&r"(sum), "+&r"(alone), "+&r"(at)
      : "r"(w)
      : "r0", "lr", "q0", "q1", "memory");
  int32_t expected = 0;
  for (int i = 0; i < 16; ++i) expected += (i - 8) * (i % 2 == 0 ? -128 : 127);
  EXPECT_EQUAL(alone, expected);
  EXPECT_EQUAL(sum, expected + 1000);
  EXPECT(at == x + 16);
}

// The rest of a row of bytes: bytes beyond VCTP.8's count read as 0 and are not stored.
static void test_vctp_of_bytes(void) {
  int8_t values[16];
  int8_t stored[16];
  for (int i = 0; i < 16; ++i) {
    values[i] = (int8_t)(i + 1);
    stored[i] = 99;
  }
  int8_t all[16];
  __asm__ volatile(
      "vctp.8 %1\n\tvpstt\n\tvldrbt.u8 q0, [%0]\n\tvstrbt.8 q0, [%2]\n\tvstrb.8 q0, [%3]"
      :
      : "r"(values), "r"(5), "r"(stored), "r"(all)
      : "q0", "memory");
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQUAL(all[i], i < 5 ? i + 1 : 0);
    EXPECT_EQUAL(stored[i], i < 5 ? i + 1 : 99);
  }
}

// mean/narrow_mve.h and mean_window_s8_mve.c: bottom lanes are the even ones and top lanes the odd,
// in widening and in narrowing. Narrowing keeps the other half of each lane.
static void test_bottom_is_even(void) {
  const int8_t values[8] = {1, -2, 3, -4, 5, -6, 7, -128};
  int8_t stored[8];
  int32_t even[LANES];
  __asm__ volatile(
      "vldrb.s16 q0, [%0]\n\tvmovlt.s16 q1, q0\n\tvmovlb.s16 q0, q0\n\tvstrw.32 q0, [%2]\n\t"
      "vqmovnb.s32 q0, q0\n\tvqmovnt.s32 q0, q1\n\tvqmovnb.s16 q0, q0\n\tvstrb.16 q0, [%1]"
      :
      : "l"(values), "l"(stored), "r"(even)
      : "q0", "q1", "memory");
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQUAL(stored[i], values[i]);
  for (uint32_t i = 0; i < LANES; ++i) EXPECT_EQUAL(even[i], values[2 * i]);
}

// requantize_mve.h: VQRDMLAH adds the register's value to the high half of the doubled product,
// rounded up at a tie.
static void test_vqrdmlah_adds(void) {
  const int32_t values[LANES] = {3, -3, INT32_MIN, 1 << 30};
  const int32_t expected[LANES] = {2, -2, -(1 << 30) - 1, 1 << 29};
  int32_t sums[LANES];
  __asm__ volatile(
      "vldrw.u32 q0, [%0]\n\tvshr.s32 q1, q0, #31\n\tvqrdmlah.s32 q1, q0, %1\n\t"
      "vstrw.32 q1, [%2]"
      :
      : "r"(values), "r"(1 << 30), "r"(sums)
      : "q0", "q1", "memory");
  for (uint32_t i = 0; i < LANES; ++i) EXPECT_EQUAL(sums[i], expected[i]);
}

// mean_columns_s8_mve.c: WLS skips a loop with no turns, LE makes the given number of turns.
static void test_loops(void) {
  for (int32_t turns = 0; turns < 3; ++turns) {
    int32_t counted = 0;
    __asm__ volatile("wls lr, %1, 2f\n\t1:\n\tadd %0, #1\n\tle lr, 1b\n\t2:"
                     : "+&r"(counted)
                     : "r"(turns)
                     : "lr", "cc");
    EXPECT_EQUAL(counted, turns);
  }
}

int main(void) {
  test_vmov_of_a_half();
  test_vmov_of_two_lanes();
  test_vctp_keeps_the_first();
  test_lowest_bytes();
  test_vqdmlah_by_1();
  test_vmladava_adds();
  test_vctp_of_bytes();
  test_bottom_is_even();
  test_vqrdmlah_adds();
  test_loops();
  return expect_report();
}
