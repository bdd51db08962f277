// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/copy.h"
#include "kernels/common/gemm_s8.h"
#include "kernels/conv2d_pieces/windows_of_pieces.h"

static void multiply(const void *layer, int32_t rows, const int8_t *windows, int32_t step,
                     int8_t *output, int32_t output_c) {
  pl_gemm_s8(layer, rows, windows, step, output, output_c);
}

pl_status pl_conv2d_pieces_s8(const pl_context *ctx, const pl_conv2d_pieces_params *params,
                              const pl_conv2d_pieces_dims *dims,
                              const pl_conv2d_pieces_data *data) {
  const pl_gemm_s8_layer layer = {
      .weight = data->weight,
      .bias = data->bias,
      .depth = dims->kernel_h * dims->kernel_w * dims->input_c,
      .channels = dims->output_c,
      .output = {data->multiplier, data->shift, params->output_zero_point, params->activation_min,
                 params->activation_max},
  };
  const pl_piece_functions functions = {multiply, pl_copy_bytes, pl_fill_bytes};
  return pl_convolve_pieces(ctx, params, dims, data, &layer, &functions);
}
