// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/optimized.h"

#include "kernels/common/clamp_s8.h"
#include "kernels/common/gemm_pairs_s8.h"
#include "kernels/linear/linear.h"

PL_INLINE pl_status run(const pl_context *ctx, const pl_linear_params *params,
                        const pl_linear_dims *dims, const pl_linear_data *data,
                        pl_multiply_s8 *multiply) {
  const int32_t depth = dims->input_channels;
  const int32_t paired = dims->output_channels - 1;
  const int32_t row_bytes = 4 * pl_steps_of(depth);
  if (ctx->scratch_size < (uint32_t)row_bytes) return PL_ERROR_SCRATCH_SIZE;
  uint32_t *const steps = ctx->scratch;
  const pl_gemm_pairs_s8 layer =
      pl_gemm_pairs(data->weight, data->bias, depth, paired, params->output_zero_point, steps, 0);
  pl_gemm_pairs_s8 last = layer;
  last.weight += paired / 2 * row_bytes;
  last.factors = layer.factors_end;
  const int8_t *x = data->input;
  int8_t *y = data->output;
  for (int32_t rows = dims->rows; rows > 0; --rows) {
    pl_widen_row_s8(x, depth, steps);
    multiply(&layer, 1, y);
    y += paired;
    pl_multiply_alone_s8(&last, y++);
    x += depth;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, (int32_t)(y - data->output), params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}

pl_status pl_linear_odd_pairs_s8(const pl_context *ctx, const pl_linear_params *params,
                                 const pl_linear_dims *dims, const pl_linear_data *data) {
  return run(ctx, params, dims, data, pl_multiply_pairs_s8);
}

pl_status pl_linear_odd_wide_pairs_s8(const pl_context *ctx, const pl_linear_params *params,
                                      const pl_linear_dims *dims, const pl_linear_data *data) {
  return run(ctx, params, dims, data, pl_multiply_wide_pairs_s8);
}
