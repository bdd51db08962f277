// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/log2.h"
#include "kernels/common/requantize.h"
#include "kernels/reduce/fold.h"

// Fraction bits of the scaled terms.
#define GUARD_BITS 10

typedef struct {
  const int32_t *at_maximum;  // exp_table + maximum
  uint32_t sum;
} exponentials;

static inline void larger(void *result, int32_t value) {
  int32_t *maximum = result;
  if (value > *maximum) *maximum = value;
}

static inline void add(void *result, int32_t value) {
  exponentials *so_far = result;
  so_far->sum += (uint32_t)so_far->at_maximum[-value];
}

static inline int32_t logsumexp(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                const int32_t *exp_table, const void *x) {
  int32_t maximum = pl_load_s8(x);
  pl_fold_s8(dims, x, &maximum, larger);
  exponentials e = {exp_table + maximum, 0};
  pl_fold_s8(dims, x, &e, add);
  const int32_t largest = (maximum - params->input_zero_point) * (1 << 20);
  const int32_t scaled = pl_requantize(largest, params->multiplier, params->shift);
  const int32_t log_sum = pl_log2_q16(e.sum) - params->fraction_bits * (1 << 16);
  const int32_t scaled_log = pl_requantize(log_sum, params->log_multiplier, params->log_shift);
  return pl_narrow(pl_shift_right_rounding(scaled + scaled_log, GUARD_BITS),
                   params->output_zero_point, INT8_MIN, INT8_MAX);
}

pl_status pl_logsumexp_s8(const pl_context *ctx, const pl_reduce_params *params,
                          const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_reduce_s8(params, dims, data, logsumexp);
}
