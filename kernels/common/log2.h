// SPDX-License-Identifier: Apache-2.0
// The logarithm of softmax's sums: common code of log_softmax and logsumexp.
#ifndef KERNELS_COMMON_LOG2_H_
#define KERNELS_COMMON_LOG2_H_

#include <stdint.h>

// round(65536 * log2(1 + i / 128)); one more entry would be 65536.
static const uint16_t pl_log2_table[128] = {
    0,     736,   1466,  2190,  2909,  3623,  4331,  5034,  5732,  6425,  7112,  7795,  8473,
    9146,  9814,  10477, 11136, 11791, 12440, 13086, 13727, 14363, 14996, 15624, 16248, 16868,
    17484, 18096, 18704, 19308, 19909, 20505, 21098, 21687, 22272, 22854, 23433, 24007, 24579,
    25146, 25711, 26272, 26830, 27384, 27936, 28484, 29029, 29571, 30109, 30645, 31178, 31707,
    32234, 32758, 33279, 33797, 34312, 34825, 35334, 35841, 36346, 36847, 37346, 37842, 38336,
    38827, 39316, 39802, 40286, 40767, 41246, 41722, 42196, 42667, 43137, 43603, 44068, 44530,
    44990, 45448, 45904, 46357, 46809, 47258, 47705, 48150, 48593, 49034, 49472, 49909, 50344,
    50776, 51207, 51636, 52063, 52488, 52911, 53332, 53751, 54169, 54584, 54998, 55410, 55820,
    56229, 56635, 57040, 57443, 57845, 58245, 58643, 59039, 59434, 59827, 60219, 60609, 60997,
    61384, 61769, 62152, 62534, 62915, 63294, 63671, 64047, 64421, 64794, 65166,
};

// log2 of x > 0 in Q16: the place of the leading bit and a linear interpolation in the table.
static inline int32_t pl_log2_q16(uint32_t x) {
  const int32_t exponent = 31 - __builtin_clz(x);
  const uint32_t fraction = x << (31 - exponent);  // the leading bit is bit 31
  const uint32_t index = (fraction >> 24) & 0x7fu;
  const uint32_t place = (fraction >> 8) & 0xffffu;
  const uint32_t base = pl_log2_table[index];
  const uint32_t next = index == 127 ? 65536u : pl_log2_table[index + 1];
  const uint32_t interpolated = base + (((next - base) * place + (1u << 15)) >> 16);
  return (exponent << 16) + (int32_t)interpolated;
}

// The same of x in [2^30, 2^63), from its 31 leading bits.
static inline int32_t pl_wide_log2_q16(uint64_t x) {
  int32_t down = 0;
  while (x >> down >= 1u << 31) ++down;
  return pl_log2_q16((uint32_t)(x >> down)) + (down << 16);
}

#endif  // KERNELS_COMMON_LOG2_H_
