// SPDX-License-Identifier: Apache-2.0
// Shared end of all forms of logsumexp of int8.
#ifndef KERNELS_REDUCE_LOGSUMEXP_H_
#define KERNELS_REDUCE_LOGSUMEXP_H_

#include "kernels/common/log2.h"
#include "kernels/common/requantize.h"
#include "kernels/reduce/fold.h"

// Fraction bits of the scaled terms.
#define PL_LOGSUMEXP_GUARD_BITS 10

typedef struct {
  const int32_t *at_maximum;  // exp_table + maximum
  uint32_t sum;
} pl_exponential_sum;

static inline void pl_take_larger(void *result, int32_t value) {
  int32_t *maximum = result;
  if (value > *maximum) *maximum = value;
}

static inline void pl_add_exponential(void *result, int32_t value) {
  pl_exponential_sum *so_far = result;
  so_far->sum += (uint32_t)so_far->at_maximum[-value];
}

static inline int32_t pl_logsumexp_of(const pl_reduce_params *params, int32_t maximum,
                                      uint32_t sum) {
  const int32_t largest = (maximum - params->input_zero_point) * (1 << 20);
  const int32_t scaled = pl_requantize(largest, params->multiplier, params->shift);
  const int32_t log_sum = pl_log2_q16(sum) - params->fraction_bits * (1 << 16);
  const int32_t scaled_log = pl_requantize(log_sum, params->log_multiplier, params->log_shift);
  return pl_narrow(pl_shift_right_rounding(scaled + scaled_log, PL_LOGSUMEXP_GUARD_BITS),
                   params->output_zero_point, INT8_MIN, INT8_MAX);
}

// For values in any layout.
static inline int32_t pl_logsumexp_anyhow(const pl_reduce_params *params,
                                          const pl_reduce_dims *dims, const int32_t *exp_table,
                                          const void *x) {
  int32_t maximum = pl_load_s8(x);
  pl_fold_s8(dims, x, &maximum, pl_take_larger);
  pl_exponential_sum e = {exp_table + maximum, 0};
  pl_fold_s8(dims, x, &e, pl_add_exponential);
  return pl_logsumexp_of(params, maximum, e.sum);
}

#endif  // KERNELS_REDUCE_LOGSUMEXP_H_
