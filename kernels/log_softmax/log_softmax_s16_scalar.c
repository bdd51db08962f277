// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide_logarithms.h"
#include "kernels/log_softmax/log_softmax_s16.h"

static void log_softmax_row(const pl_log_softmax_s16_params *params, const int16_t *x, int32_t size,
                            int32_t step, const int32_t *exp_table, int16_t *output) {
  // A copy, safe from stores to the output.
  const pl_log_softmax_s16_params p = *params;
  const int32_t end = size * step;
  int32_t maximum = x[0];
  for (int32_t i = step; i < end; i += step) maximum = x[i] > maximum ? x[i] : maximum;
  uint64_t sum = 0;
  for (int32_t i = 0; i < end; i += step) sum += pl_wide_exponential(exp_table, maximum - x[i]);
  const int64_t log_sum = pl_wide_scaled_log(sum, p.log_multiplier, p.log_shift);
  for (int32_t i = 0; i < end; i += step) {
    const int64_t below = pl_wide_scaled_value(x[i] - maximum, p.input_multiplier, p.input_shift);
    output[i] = pl_without_guard_bits(below - log_sum);
  }
}

pl_status pl_log_softmax_s16(const pl_context *ctx, const pl_log_softmax_s16_params *params,
                             const pl_log_softmax_s16_dims *dims,
                             const pl_log_softmax_s16_data *data) {
  (void)ctx;
  const int32_t block = dims->size * dims->inner;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      const int32_t start = outer * block + inner;
      log_softmax_row(params, data->input + start, dims->size, dims->inner, data->exp_table,
                      data->output + start);
    }
  }
  return PL_OK;
}
