// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_blocks_s8.h"
#include "kernels/linear/linear.h"

pl_status pl_linear_blocks_s8(const pl_context *ctx, const pl_linear_params *params,
                              const pl_linear_dims *dims, const pl_linear_data *data) {
  (void)ctx;
  const pl_gemm_blocks_s8 layer = {
      .weight = data->weight,
      .constants = data->bias,
      .depth = dims->input_channels,
      .channels = dims->output_channels,
      .zero_point = params->output_zero_point,
      .activation_min = params->activation_min,
      .activation_max = params->activation_max,
  };
  pl_multiply_blocks_s8(&layer, dims->rows, data->input, dims->input_channels, data->output,
                        dims->output_channels);
  return PL_OK;
}
