// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s8.h"
#include "kernels/common/gemm_pairs_s8.h"
#include "kernels/transpose_conv2d/phases.h"

static inline int32_t weight_bytes(int32_t packed_c, int32_t depth) {
  return packed_c / 2 * pl_steps_of(depth) * 4;
}

// Four windows together, and the tail one by one.
PL_INLINE void multiply_by(const pl_transpose_conv2d_params *params, const pl_phase_matrix *matrix,
                           pl_phase_windows windows, int8_t *y, int32_t y_stride,
                           pl_multiply_s8 *product) {
  const int32_t depth = matrix->depth;
  const pl_gemm_pairs_s8 layer =
      pl_gemm_pairs(matrix->weight, matrix->bias, depth, matrix->channels,
                    params->output_zero_point, matrix->scratch, y_stride);
  const int8_t *x = windows.first;
  int32_t rows = windows.count;
  for (; rows >= PL_PAIRS_ROWS; rows -= PL_PAIRS_ROWS) {
    pl_widen_4_s8(x, windows.step, 1, 0, depth, matrix->scratch);
    product(&layer, PL_PAIRS_ROWS, y);
    x += PL_PAIRS_ROWS * windows.step;
    y += PL_PAIRS_ROWS * y_stride;
  }
  for (; rows > 0; --rows, x += windows.step, y += y_stride) {
    pl_widen_s8(x, 1, 0, depth, matrix->scratch, 1);
    product(&layer, 1, y);
  }
}

PL_INLINE void multiply(const pl_transpose_conv2d_params *params,
                        const pl_transpose_conv2d_dims *dims, const pl_transpose_conv2d_data *data,
                        const pl_phase_matrix *matrix, pl_phase_windows windows, int8_t *y,
                        int32_t y_stride) {
  (void)dims;
  (void)data;
  multiply_by(params, matrix, windows, y, y_stride, pl_multiply_pairs_s8);
}

PL_INLINE void multiply_wide(const pl_transpose_conv2d_params *params,
                             const pl_transpose_conv2d_dims *dims,
                             const pl_transpose_conv2d_data *data, const pl_phase_matrix *matrix,
                             pl_phase_windows windows, int8_t *y, int32_t y_stride) {
  (void)dims;
  (void)data;
  multiply_by(params, matrix, windows, y, y_stride, pl_multiply_wide_pairs_s8);
}

PL_INLINE pl_status run(const pl_context *ctx, const pl_transpose_conv2d_params *params,
                        const pl_transpose_conv2d_dims *dims, const pl_transpose_conv2d_data *data,
                        pl_multiply_windows *product) {
  const pl_status status = pl_convolve_phases(ctx, params, dims, data, weight_bytes, 3, product);
  if (status == PL_OK && params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, dims->batches * dims->output_h * dims->output_w * dims->output_c,
                params->activation_min, params->activation_max);
  }
  return status;
}

pl_status pl_transpose_conv2d_pairs_s8(const pl_context *ctx,
                                       const pl_transpose_conv2d_params *params,
                                       const pl_transpose_conv2d_dims *dims,
                                       const pl_transpose_conv2d_data *data) {
  return run(ctx, params, dims, data, multiply);
}

pl_status pl_transpose_conv2d_wide_pairs_s8(const pl_context *ctx,
                                            const pl_transpose_conv2d_params *params,
                                            const pl_transpose_conv2d_dims *dims,
                                            const pl_transpose_conv2d_data *data) {
  return run(ctx, params, dims, data, multiply_wide);
}
