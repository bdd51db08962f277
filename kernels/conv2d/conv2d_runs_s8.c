// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_s8.h"
#include "kernels/conv2d/conv2d.h"

pl_status pl_conv2d_runs_s8(const pl_context *ctx, const pl_conv2d_params *params,
                            const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  (void)ctx;
  const pl_gemm_s8_layer layer = {
      .weight = data->weight,
      .bias = data->bias,
      .depth = dims->kernel_h * dims->kernel_w * dims->input_c,
      .channels = dims->output_c,
      .output = {data->multiplier, data->shift, params->output_zero_point, params->activation_min,
                 params->activation_max},
  };
  const int32_t row_bytes = dims->input_w * dims->input_c;
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    const int8_t *row = image;
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      pl_gemm_s8(&layer, dims->output_w, row, params->stride_w * dims->input_c, output,
                 dims->output_c);
      row += params->stride_h * row_bytes;
      output += dims->output_w * dims->output_c;
    }
    image += dims->input_h * row_bytes;
  }
  return PL_OK;
}
