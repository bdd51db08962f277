// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide_logarithms.h"
#include "kernels/reduce/fold.h"

typedef struct {
  const int32_t *exp_table;
  int32_t maximum;
  uint64_t sum;
} exponentials;

static inline void larger(void *result, int32_t value) {
  int32_t *maximum = result;
  if (value > *maximum) *maximum = value;
}

static inline void add(void *result, int32_t value) {
  exponentials *so_far = result;
  so_far->sum += pl_wide_exponential(so_far->exp_table, so_far->maximum - value);
}

static inline int32_t logsumexp(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                const int32_t *exp_table, const void *x) {
  int32_t maximum = pl_load_s16(x);
  pl_fold_s16(dims, x, &maximum, larger);
  exponentials e = {exp_table, maximum, 0};
  pl_fold_s16(dims, x, &e, add);
  const int64_t largest = pl_wide_scaled_value(maximum, params->multiplier, params->shift);
  const int64_t log_sum = pl_wide_scaled_log(e.sum, params->log_multiplier, params->log_shift);
  return pl_without_guard_bits(largest + log_sum);
}

pl_status pl_logsumexp_s16(const pl_context *ctx, const pl_reduce_params *params,
                           const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_reduce_s16(params, dims, data, logsumexp);
}
