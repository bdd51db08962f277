// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exact_floats.h"

#include "kernels/convolution_f32/convolution_f32.h"
#include "kernels/convolution_f32/convolve.h"

pl_status pl_convolution_f32(const pl_context *ctx, const pl_convolution_f32_params *params,
                             const pl_convolution_f32_dims *dims,
                             const pl_convolution_f32_data *data) {
  (void)ctx;
  pl_convolve_f32(pl_block_f32_scalar, params, dims, data);
  return PL_OK;
}
