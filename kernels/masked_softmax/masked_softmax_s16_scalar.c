// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide_exponentials.h"
#include "kernels/masked_softmax/masked_softmax_s16.h"

static void softmax_row(const int16_t *x, const uint8_t *mask, int32_t size,
                        const int32_t *exp_table, int16_t *output) {
  int32_t maximum = INT16_MIN;
  for (int32_t i = 0; i < size; ++i) maximum = mask[i] && x[i] > maximum ? x[i] : maximum;
  uint64_t sum = 0;
  for (int32_t i = 0; i < size; ++i) {
    sum += mask[i] ? pl_wide_exponential(exp_table, maximum - x[i]) : 0;
  }
  if (sum == 0) sum = 1u << PL_WIDE_EXPONENTIAL_BITS;  // all are masked
  const pl_wide_divisor divisor = pl_wide_divisor_of(sum);
  for (int32_t i = 0; i < size; ++i) {
    output[i] =
        mask[i] ? pl_wide_share(pl_wide_exponential(exp_table, maximum - x[i]), divisor) : 0;
  }
}

pl_status pl_masked_softmax_s16(const pl_context *ctx, const pl_masked_softmax_s16_params *params,
                                const pl_masked_softmax_s16_dims *dims,
                                const pl_masked_softmax_s16_data *data) {
  (void)ctx;
  (void)params;
  int16_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    softmax_row(data->input + row.a, data->mask + row.b, dims->size, data->exp_table, output);
    output += dims->size;
  } while (pl_broadcast_next(&dims->rows, &row));
  return PL_OK;
}
