// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s8.h"
#include "kernels/common/copy.h"
#include "kernels/common/gemm_pairs_s8.h"
#include "kernels/conv2d_pieces/windows_of_pieces.h"

typedef struct {
  pl_gemm_pairs_s8 product;
  int32_t depth;
  uint32_t *steps;  // scratch, of PL_PAIRS_ROWS windows
} wide_layer;

PL_INLINE void multiply_with(const wide_layer *layer, int32_t rows, const int8_t *windows,
                             int32_t step, int8_t *output, int32_t output_c,
                             pl_multiply_s8 *multiply) {
  for (; rows >= PL_PAIRS_ROWS; rows -= PL_PAIRS_ROWS) {
    pl_widen_4_s8(windows, step, 1, 0, layer->depth, layer->steps);
    multiply(&layer->product, PL_PAIRS_ROWS, output);
    windows += PL_PAIRS_ROWS * step;
    output += PL_PAIRS_ROWS * output_c;
  }
  for (; rows > 0; --rows) {
    pl_widen_s8(windows, 1, 0, layer->depth, layer->steps, 1);
    multiply(&layer->product, 1, output);
    windows += step;
    output += output_c;
  }
}

static void multiply_pairs(const void *layer, int32_t rows, const int8_t *windows, int32_t step,
                           int8_t *output, int32_t output_c) {
  multiply_with(layer, rows, windows, step, output, output_c, pl_multiply_pairs_s8);
}

static void multiply_wide_pairs(const void *layer, int32_t rows, const int8_t *windows,
                                int32_t step, int8_t *output, int32_t output_c) {
  multiply_with(layer, rows, windows, step, output, output_c, pl_multiply_wide_pairs_s8);
}

PL_INLINE pl_status run(const pl_context *ctx, const pl_conv2d_pieces_params *params,
                        const pl_conv2d_pieces_dims *dims, const pl_conv2d_pieces_data *data,
                        pl_multiply_windows *multiply) {
  const int32_t depth = dims->kernel_h * dims->kernel_w * dims->input_c;
  const wide_layer layer = {
      .product = pl_gemm_pairs(data->weight, data->bias, depth, dims->output_c,
                               params->output_zero_point, ctx->scratch, dims->output_c),
      .depth = depth,
      .steps = ctx->scratch,
  };
  const uint32_t steps_bytes = (uint32_t)(4 * PL_PAIRS_ROWS * pl_steps_of(depth));
  if (ctx->scratch_size < steps_bytes) return PL_ERROR_SCRATCH_SIZE;
  const pl_context columns = {(int8_t *)ctx->scratch + steps_bytes,
                              ctx->scratch_size - steps_bytes};
  const pl_piece_functions functions = {multiply, pl_copy_bytes, pl_fill_bytes};
  const pl_status status = pl_convolve_pieces(&columns, params, dims, data, &layer, &functions);
  if (status == PL_OK && params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, dims->output_h * dims->output_w * dims->output_c,
                params->activation_min, params->activation_max);
  }
  return status;
}

pl_status pl_conv2d_pieces_pairs_s8(const pl_context *ctx, const pl_conv2d_pieces_params *params,
                                    const pl_conv2d_pieces_dims *dims,
                                    const pl_conv2d_pieces_data *data) {
  return run(ctx, params, dims, data, multiply_pairs);
}

pl_status pl_conv2d_pieces_wide_pairs_s8(const pl_context *ctx,
                                         const pl_conv2d_pieces_params *params,
                                         const pl_conv2d_pieces_dims *dims,
                                         const pl_conv2d_pieces_data *data) {
  return run(ctx, params, dims, data, multiply_wide_pairs);
}
