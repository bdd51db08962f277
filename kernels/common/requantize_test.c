// SPDX-License-Identifier: Apache-2.0
// Compares requantize.h with the specification written out literally, on edges and random values.
#include "kernels/common/requantize.h"

#include "boards/common/print.h"

static int64_t saturate_int32(int64_t x) {
  return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x;
}

static int32_t specified(int32_t x, int32_t multiplier, int32_t shift) {
  const int left = shift > 0 ? shift : 0;
  const int right = shift < 0 ? -shift : 0;
  const int64_t x1 = saturate_int32((int64_t)x * ((int64_t)1 << left));
  const int64_t h = saturate_int32((x1 * multiplier + ((int64_t)1 << 30)) >> 31);
  const int64_t mask = ((int64_t)1 << right) - 1;
  return (int32_t)((h >> right) + ((h & mask) > (mask >> 1) + (h < 0)));
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state ^ (*state >> 15);
}

static int check(int32_t x, int32_t multiplier, int32_t shift) {
  if (x == INT32_MIN && multiplier < 0) return 0;
  const int32_t expected = specified(x, multiplier, shift);
  const int32_t result = pl_requantize(x, multiplier, shift);
  if (result == expected) return 0;
  const int32_t numbers[] = {x, multiplier, shift, result, expected};
  static const char *const kBefore[] = {"requantize(", ", ", ", ", ") is ", ", expected "};
  for (int i = 0; i < 5; ++i) {
    pl_print(kBefore[i]);
    pl_print_i32(numbers[i]);
  }
  pl_print("\n");
  return 1;
}

// pl_requantize_down where it may be called, with zero points at the ends of int8.
static int check_down(int32_t x, int32_t multiplier, int32_t shift) {
  if (shift >= 0 || shift < -20 || multiplier < 0 || x >= 1 << 30 || x <= -(1 << 30)) return 0;
  const int32_t expected = specified(x, multiplier, shift);
  for (int32_t zero_point = INT8_MIN; zero_point <= INT8_MAX; zero_point += INT8_MAX - INT8_MIN) {
    const int32_t result = pl_requantize_down(x, multiplier, -shift - 1, 2 * zero_point + 1);
    if (result != expected + zero_point) {
      pl_print("requantize_down differs\n");
      return 1;
    }
  }
  return 0;
}

int main(void) {
  static const int32_t kEdges[] = {0,
                                   1,
                                   -1,
                                   2,
                                   -2,
                                   3,
                                   -3,
                                   127,
                                   -128,
                                   (1 << 30),
                                   -(1 << 30),
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT32_MAX - 1,
                                   INT32_MIN + 1};
  static const int32_t kMultipliers[] = {0,          1 << 30,        INT32_MAX,     (1 << 30) + 1,
                                         -(1 << 30), -(1 << 30) - 1, INT32_MIN + 1, 3 << 29};
  int failures = 0;
  for (int32_t shift = -31; shift <= 30; ++shift) {
    for (uint32_t m = 0; m < sizeof(kMultipliers) / sizeof(kMultipliers[0]); ++m) {
      for (uint32_t e = 0; e < sizeof(kEdges) / sizeof(kEdges[0]); ++e) {
        failures += check(kEdges[e], kMultipliers[m], shift) +
                    check_down(kEdges[e], kMultipliers[m], shift);
        const int32_t tie = (int32_t)((uint32_t)kEdges[e] << (shift < 0 ? -shift - 1 : 0));
        failures += check(tie, kMultipliers[m], shift) + check_down(tie, kMultipliers[m], shift);
      }
    }
    uint32_t state = 1;
    for (int i = 0; i < 20000; ++i) {
      const int32_t x = (int32_t)next_random(&state) >> (next_random(&state) >> 27);
      const int32_t magnitude = (int32_t)((next_random(&state) >> 2) | (1u << 30));
      failures += check(x, i % 4 == 0 ? -magnitude : magnitude, shift) +
                  check_down(x, i % 4 == 0 ? -magnitude : magnitude, shift);
    }
  }
  pl_print(failures == 0 ? "PL:PASS\n" : "PL:FAIL requantize differs from its specification\n");
  return failures == 0 ? 0 : 1;
}
