// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean/mean_rows.h"

#include "kernels/common/requantize.h"

pl_status pl_mean_rows_s8(const pl_context *ctx, const pl_mean_rows_params *params,
                          const pl_mean_rows_dims *dims, const pl_mean_rows_data *data) {
  const int32_t channels = dims->channels;
  if (ctx->scratch_size < (uint32_t)channels * sizeof(int32_t)) return PL_ERROR_SCRATCH_SIZE;
  int32_t *const sums = ctx->scratch;
  if (dims->row == 0) {
    for (int32_t c = 0; c < channels; ++c) sums[c] = params->offset;
  }
  const int8_t *x = data->input;
  for (int32_t left = dims->rows * dims->pixels; left > 0; --left) {
    for (int32_t c = 0; c < channels; ++c) sums[c] += x[c];
    x += channels;
  }
  if (dims->row + dims->rows < dims->count) return PL_OK;
  for (int32_t c = 0; c < channels; ++c) {
    data->output[c] = pl_narrow(pl_requantize(sums[c], params->multiplier, params->shift),
                                params->output_zero_point, INT8_MIN, INT8_MAX);
  }
  return PL_OK;
}
