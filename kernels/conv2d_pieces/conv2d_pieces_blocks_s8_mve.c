// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/gemm_blocks_s8.h"
#include "kernels/conv2d_pieces/windows_of_pieces.h"

#define LANES 16

static void multiply(const void *layer, int32_t rows, const int8_t *windows, int32_t step,
                     int8_t *output, int32_t output_c) {
  pl_multiply_blocks_s8(layer, rows, windows, step, output, output_c);
}

PL_INLINE void copy(int8_t *to, const int8_t *from, int32_t bytes) {
  for (; bytes > 0; bytes -= LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)bytes);
    vstrbq_p_s8(to, vldrbq_z_s8(from, lanes), lanes);
    from += LANES;
    to += LANES;
  }
}

PL_INLINE void fill(int8_t *to, int8_t value, int32_t bytes) {
  for (; bytes > 0; bytes -= LANES) {
    vstrbq_p_s8(to, vdupq_n_s8(value), vctp8q((uint32_t)bytes));
    to += LANES;
  }
}

pl_status pl_conv2d_pieces_blocks_s8(const pl_context *ctx, const pl_conv2d_pieces_params *params,
                                     const pl_conv2d_pieces_dims *dims,
                                     const pl_conv2d_pieces_data *data) {
  const pl_gemm_blocks_s8 layer = {
      .weight = data->weight,
      .constants = data->bias,
      .depth = dims->kernel_h * dims->kernel_w * dims->input_c,
      .channels = dims->output_c,
      .zero_point = params->output_zero_point,
      .activation_min = params->activation_min,
      .activation_max = params->activation_max,
  };
  const pl_piece_functions functions = {multiply, copy, fill};
  return pl_convolve_pieces(ctx, params, dims, data, &layer, &functions);
}
