// SPDX-License-Identifier: Apache-2.0
// Linear layers by gemm_blocks_s8.h.
#ifndef KERNELS_LINEAR_BLOCKS_MVE_H_
#define KERNELS_LINEAR_BLOCKS_MVE_H_

#include "kernels/common/gemm_blocks_s8.h"
#include "kernels/linear/linear.h"

PL_INLINE pl_status pl_linear_by_blocks(const pl_linear_params *params, const pl_linear_dims *dims,
                                        const pl_linear_data *data,
                                        pl_multiply_of_blocks multiply) {
  const pl_gemm_blocks_s8 layer = {
      .weight = data->weight,
      .constants = data->bias,
      .depth = dims->input_channels,
      .channels = dims->output_channels,
      .zero_point = params->output_zero_point,
      .activation_min = params->activation_min,
      .activation_max = params->activation_max,
  };
  multiply(&layer, dims->rows, data->input, dims->input_channels, data->output,
           dims->output_channels);
  return PL_OK;
}

#endif  // KERNELS_LINEAR_BLOCKS_MVE_H_
