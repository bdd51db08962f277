// SPDX-License-Identifier: Apache-2.0
// exponentials.h for rows in one piece, four values a word.
#ifndef KERNELS_COMMON_EXPONENTIALS_DSP_H_
#define KERNELS_COMMON_EXPONENTIALS_DSP_H_

#include "kernels/common/dsp.h"
#include "kernels/common/exponentials.h"
#include "kernels/common/types.h"

static inline int32_t pl_run_maximum(const int8_t *x, int32_t size) {
  int8x4_t most = (int8x4_t)0x80808080U;
  for (const int8_t *end = x + (size & ~3); x != end; x += 4) {
    most = pl_larger_4_s8(most, pl_load_4(x));
  }
  const int32_t rest = pl_row_maximum(x, size & 3, 1);
  int8_t lanes[4];
  __builtin_memcpy(lanes, &most, 4);
  const int32_t whole = pl_row_maximum(lanes, 4, 1);
  return whole > rest ? whole : rest;
}

static inline uint32_t pl_run_exponentials(const int8_t *x, int32_t size, const int32_t *exp_table,
                                           int32_t maximum) {
  const int32_t *at_zero = exp_table + maximum;
  uint32_t sum = 0;
  for (const int8_t *end = x + (size & ~3); x != end; x += 4) {
    sum += (uint32_t)at_zero[-x[0]];
    sum += (uint32_t)at_zero[-x[1]];
    sum += (uint32_t)at_zero[-x[2]];
    sum += (uint32_t)at_zero[-x[3]];
  }
  return sum + pl_row_exponentials(x, size & 3, 1, exp_table, maximum);
}

static inline int32_t pl_maximum_of(const int8_t *x, int32_t size, int32_t step) {
  return step == 1 && size >= 8 ? pl_run_maximum(x, size) : pl_row_maximum(x, size, step);
}

static inline uint32_t pl_exponentials_of(const int8_t *x, int32_t size, int32_t step,
                                          const int32_t *exp_table, int32_t maximum) {
  return step == 1 && size >= 8 ? pl_run_exponentials(x, size, exp_table, maximum)
                                : pl_row_exponentials(x, size, step, exp_table, maximum);
}

// Share of an exponential in a row's sum, in steps of 1 / steps. It is a positive int32, so USAT
// clamps it.
static inline int8_t pl_share_dsp(uint32_t e, uint32_t steps, uint32_t half, uint32_t sum) {
  const uint32_t share = (e * steps + half) / sum;
  return (int8_t)(__usat((int32_t)share, 8) ^ 0x80);
}

// pl_softmax_steps_s8 of a row.
PL_INLINE void pl_softmax_row_dsp(const int8_t *x, int32_t size, int32_t step,
                                  const int32_t *exp_table, uint32_t steps, int8_t *output) {
  const int32_t maximum = pl_maximum_of(x, size, step);
  const uint32_t sum = pl_exponentials_of(x, size, step, exp_table, maximum);
  const uint32_t half = sum / 2;
  const uint32_t divisor = sum == 0 ? 1 : sum;  // 0: there are no values
  const int32_t *at_zero = exp_table + maximum;
  if (step == 1) {
    for (const int8_t *end = x + (size & ~3); x != end; x += 4, output += 4) {
      output[0] = pl_share_dsp((uint32_t)at_zero[-x[0]], steps, half, divisor);
      output[1] = pl_share_dsp((uint32_t)at_zero[-x[1]], steps, half, divisor);
      output[2] = pl_share_dsp((uint32_t)at_zero[-x[2]], steps, half, divisor);
      output[3] = pl_share_dsp((uint32_t)at_zero[-x[3]], steps, half, divisor);
    }
    size &= 3;
  }
  for (; size > 0; --size, x += step, output += step) {
    *output = pl_share_dsp((uint32_t)at_zero[-*x], steps, half, divisor);
  }
}

#endif  // KERNELS_COMMON_EXPONENTIALS_DSP_H_
