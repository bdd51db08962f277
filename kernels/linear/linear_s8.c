// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_s8.h"
#include "kernels/linear/linear.h"

pl_status pl_linear_s8(const pl_context *ctx, const pl_linear_params *params,
                       const pl_linear_dims *dims, const pl_linear_data *data) {
  (void)ctx;
  const pl_gemm_s8_layer layer = {
      .weight = data->weight,
      .bias = data->bias,
      .depth = dims->input_channels,
      .channels = dims->output_channels,
      .output = {data->multiplier, data->shift, params->output_zero_point, params->activation_min,
                 params->activation_max},
  };
  pl_gemm_s8(&layer, dims->rows, data->input, dims->input_channels, data->output,
             dims->output_channels);
  return PL_OK;
}
