// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_s8.h"
#include "kernels/transpose_conv2d/phases.h"

static inline int32_t weight_bytes(int32_t packed_c, int32_t depth) { return packed_c * depth; }

PL_INLINE void multiply(const pl_transpose_conv2d_params *params,
                        const pl_transpose_conv2d_dims *dims, const pl_transpose_conv2d_data *data,
                        const pl_phase_matrix *matrix, pl_phase_windows windows, int8_t *y,
                        int32_t y_stride) {
  pl_gemm_s8_layer layer = {
      .weight = matrix->weight,
      .bias = matrix->bias,
      .depth = matrix->depth,
      .channels = matrix->channels,
      .output = {data->multiplier, data->shift, params->output_zero_point, params->activation_min,
                 params->activation_max},
  };
  pl_skip_channels(&layer.output, matrix->group * dims->packed_c);
  pl_gemm_s8(&layer, windows.count, windows.first, windows.step, y, y_stride);
}

pl_status pl_transpose_conv2d_s8(const pl_context *ctx, const pl_transpose_conv2d_params *params,
                                 const pl_transpose_conv2d_dims *dims,
                                 const pl_transpose_conv2d_data *data) {
  return pl_convolve_phases(ctx, params, dims, data, weight_bytes, 1, multiply);
}
