// SPDX-License-Identifier: Apache-2.0
// A correctly rounded root lies between the roots of its neighbours' midpoints: checked exactly,
// with integers, on random values and edges.
#include "kernels/common/sqrt_f32.h"

#include "boards/common/print.h"
#include "kernels/common/float_bits.h"

// Returns true if `root`, of 24 bits, is the nearest to the root of mantissa * 2^23: then (2 root -
// 1)^2 <= 4 mantissa * 2^23 <= (2 root + 1)^2.
static int is_nearest(uint32_t root, uint64_t mantissa) {
  const uint64_t below = 2 * (uint64_t)root - 1;
  const uint64_t above = 2 * (uint64_t)root + 1;
  const uint64_t target = mantissa << 25;
  return below * below <= target && target <= above * above;
}

static int check(uint32_t bits) {
  const pl_float_parts x = pl_split_float(bits);
  const pl_float_parts root = pl_split_float(pl_float_bits(pl_sqrt_f32(pl_float_of_bits(bits))));
  const int32_t odd = x.exponent & 1;
  const int exponent_fits = root.exponent == (x.exponent - odd) / 2;
  if (exponent_fits && is_nearest(root.mantissa, (uint64_t)x.mantissa << odd)) return 0;
  pl_print("the root of ");
  pl_print_hex32(bits);
  pl_print(" is not the nearest\n");
  return 1;
}

static int check_special(uint32_t bits, uint32_t expected) {
  if (pl_float_bits(pl_sqrt_f32(pl_float_of_bits(bits))) == expected) return 0;
  pl_print("the root of ");
  pl_print_hex32(bits);
  pl_print(" is wrong\n");
  return 1;
}

int main(void) {
  static const uint32_t kEdges[] = {1u,          2u,          3u,          0x7fffffu,   0x800000u,
                                    0x800001u,   0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x40000000u,
                                    0x40800000u, 0x40490fdbu, 0x7f7fffffu, 0x7f000000u};
  int failures = 0;
  for (uint32_t i = 0; i < sizeof(kEdges) / sizeof(kEdges[0]); ++i) failures += check(kEdges[i]);
  failures += check_special(0, 0);
  failures += check_special(PL_FLOAT_SIGN, PL_FLOAT_SIGN);
  failures += check_special(PL_FLOAT_INFINITY, PL_FLOAT_INFINITY);
  failures += check_special(PL_FLOAT_SIGN | PL_FLOAT_INFINITY, PL_FLOAT_NAN);
  failures += check_special(0xbf800000u, PL_FLOAT_NAN);
  uint32_t state = 1;
  for (int i = 0; i < 100000; ++i) {
    state = state * 1664525u + 1013904223u;
    const uint32_t bits = state & 0x7fffffffu;
    if (bits != 0 && bits < PL_FLOAT_INFINITY) failures += check(bits);
  }
  pl_print(failures == 0 ? "PL:PASS\n" : "PL:FAIL square roots\n");
  return failures == 0 ? 0 : 1;
}
