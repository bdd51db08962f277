// SPDX-License-Identifier: Apache-2.0
#include "kernels/masked_softmax/masked_softmax.h"

static void softmax_row(const int8_t *x, const uint8_t *mask, int32_t size,
                        const int32_t *exp_table, uint32_t steps, int8_t *output) {
  int32_t maximum = INT8_MIN;
  for (int32_t i = 0; i < size; ++i) maximum = mask[i] && x[i] > maximum ? x[i] : maximum;
  uint32_t sum = 0;
  for (int32_t i = 0; i < size; ++i) sum += mask[i] ? (uint32_t)exp_table[maximum - x[i]] : 0;
  const uint32_t half = sum / 2;
  if (sum == 0) sum = 1;  // all are masked
  for (int32_t i = 0; i < size; ++i) {
    uint32_t share = 0;
    if (mask[i]) {
      const uint32_t e = (uint32_t)exp_table[maximum - x[i]];
      share = (e * steps + half) / sum;
    }
    output[i] = (int8_t)((share > 255 ? 255 : (int32_t)share) - 128);
  }
}

pl_status pl_masked_softmax_s8(const pl_context *ctx, const pl_masked_softmax_params *params,
                               const pl_masked_softmax_dims *dims,
                               const pl_masked_softmax_data *data) {
  (void)ctx;
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    softmax_row(data->input + row.a, data->mask + row.b, dims->size, data->exp_table, params->steps,
                output);
    output += dims->size;
  } while (pl_broadcast_next(&dims->rows, &row));
  return PL_OK;
}
