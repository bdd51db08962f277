// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_taps_s8.h"
#include "kernels/transpose_conv2d/phases.h"

static inline int32_t weight_bytes(int32_t packed_c, int32_t depth) {
  return packed_c * ((depth + 3) & ~3);
}

// The memory before the windows is for two rows, and as many channels as fit.
PL_INLINE void multiply_by(const pl_transpose_conv2d_params *params,
                           const pl_transpose_conv2d_dims *dims, const pl_phase_matrix *matrix,
                           pl_phase_windows windows, int8_t *y, int32_t y_stride,
                           int32_t stage_words, pl_multiply_taps *function) {
  const int32_t depth = (matrix->depth + 3) & ~3;
  const int32_t left_bytes = dims->windows_offset - pl_taps_rows_bytes(depth);
  const pl_gemm_taps layer = {
      .weight = matrix->weight,
      .stage = matrix->bias,
      .depth = depth,
      .channels = matrix->channels,
      .block = left_bytes / (4 * (depth / 2 + stage_words)),
      .stage_words = stage_words,
      .multiply = function,
  };
  uint32_t *const x = matrix->scratch;
  pl_taps_call call = {
      .x = x,
      .x_end = x + depth,
      .weight = x + depth,
      .low_xor_top = params->activation_min ^ params->activation_max,
      .top = params->activation_max,
  };
  for (int32_t c = 0; c < layer.channels;) {
    const int32_t count = pl_expand_weights_s8(&layer, c, x + depth);
    const int8_t *window = windows.first;
    call.y = y + c;
    for (int32_t left = windows.count; left > 0; left -= 2) {
      const int32_t second = left > 1;
      pl_expand_rows_s8(window, window + second * windows.step, matrix->depth, x);
      call.y_end = call.y + count;
      call.y_step = second * y_stride;
      function(&call);
      window += 2 * windows.step;
      call.y += 2 * y_stride;
    }
    c += count;
  }
}

static void multiply(const pl_transpose_conv2d_params *params, const pl_transpose_conv2d_dims *dims,
                     const pl_transpose_conv2d_data *data, const pl_phase_matrix *matrix,
                     pl_phase_windows windows, int8_t *y, int32_t y_stride) {
  (void)data;
  multiply_by(params, dims, matrix, windows, y, y_stride, PL_TAPS_STAGE, pl_multiply_taps_s8);
}

static void multiply_signed(const pl_transpose_conv2d_params *params,
                            const pl_transpose_conv2d_dims *dims,
                            const pl_transpose_conv2d_data *data, const pl_phase_matrix *matrix,
                            pl_phase_windows windows, int8_t *y, int32_t y_stride) {
  (void)data;
  multiply_by(params, dims, matrix, windows, y, y_stride, PL_TAPS_SIGNED_STAGE,
              pl_multiply_signed_taps_s8);
}

pl_status pl_transpose_conv2d_taps_s8(const pl_context *ctx,
                                      const pl_transpose_conv2d_params *params,
                                      const pl_transpose_conv2d_dims *dims,
                                      const pl_transpose_conv2d_data *data) {
  return pl_convolve_phases(ctx, params, dims, data, weight_bytes, PL_TAPS_STAGE, multiply);
}

pl_status pl_transpose_conv2d_signed_taps_s8(const pl_context *ctx,
                                             const pl_transpose_conv2d_params *params,
                                             const pl_transpose_conv2d_dims *dims,
                                             const pl_transpose_conv2d_data *data) {
  return pl_convolve_phases(ctx, params, dims, data, weight_bytes, PL_TAPS_SIGNED_STAGE,
                            multiply_signed);
}
