// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide_exponentials.h"
#include "kernels/softmax/softmax_s16.h"

static void softmax_row(const int16_t *x, int32_t size, int32_t step, const int32_t *exp_table,
                        int16_t *output) {
  int32_t maximum = INT16_MIN;
  const int32_t end = size * step;
  for (int32_t i = 0; i < end; i += step) maximum = x[i] > maximum ? x[i] : maximum;
  uint64_t sum = 0;
  for (int32_t i = 0; i < end; i += step) sum += pl_wide_exponential(exp_table, maximum - x[i]);
  const pl_wide_divisor divisor = pl_wide_divisor_of(sum);
  for (int32_t i = 0; i < end; i += step) {
    output[i] = pl_wide_share(pl_wide_exponential(exp_table, maximum - x[i]), divisor);
  }
}

pl_status pl_softmax_s16(const pl_context *ctx, const pl_softmax_s16_params *params,
                         const pl_softmax_s16_dims *dims, const pl_softmax_s16_data *data) {
  (void)ctx;
  (void)params;
  const int32_t block = dims->size * dims->inner;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      const int32_t start = outer * block + inner;
      softmax_row(data->input + start, dims->size, dims->inner, data->exp_table,
                  data->output + start);
    }
  }
  return PL_OK;
}
