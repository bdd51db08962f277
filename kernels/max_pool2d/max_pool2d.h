// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MAX_POOL2D_MAX_POOL2D_H_
#define KERNELS_MAX_POOL2D_MAX_POOL2D_H_

#include "kernels/common/pool_dims.h"
#include "kernels/common/types.h"

typedef struct {
  int32_t stride_h;
  int32_t stride_w;
  int32_t pad_top;
  int32_t pad_left;
  int32_t dilation_h;
  int32_t dilation_w;
} pl_max_pool2d_params;

typedef pl_pool2d_dims pl_max_pool2d_dims;

typedef struct {
  const int8_t *input;  // [batches, input_h, input_w, input_c]
  int8_t *output;       // [batches, output_h, output_w, input_c]
} pl_max_pool2d_data;

// Maximum of each window over its taps inside the input. At least one tap is inside. TFLite int8
// MAX_POOL_2D.
PL_MUST_USE pl_status pl_max_pool2d_s8(const pl_context *ctx, const pl_max_pool2d_params *params,
                                       const pl_max_pool2d_dims *dims,
                                       const pl_max_pool2d_data *data);

// The same on cores with Helium, with scratch for a row of the windows' columns; with less it
// returns PL_ERROR_SCRATCH_SIZE.
PL_MUST_USE pl_status pl_max_pool2d_rows_s8(const pl_context *ctx,
                                            const pl_max_pool2d_params *params,
                                            const pl_max_pool2d_dims *dims,
                                            const pl_max_pool2d_data *data);

#endif  // KERNELS_MAX_POOL2D_MAX_POOL2D_H_
