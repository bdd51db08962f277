// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MEAN_POOL2D_MEAN_POOL2D_S16_H_
#define KERNELS_MEAN_POOL2D_MEAN_POOL2D_S16_H_

#include "kernels/mean_pool2d/mean_pool2d.h"

typedef pl_mean_pool2d_params pl_mean_pool2d_s16_params;  // both zero points are 0
typedef pl_mean_pool2d_dims pl_mean_pool2d_s16_dims;

typedef struct {
  const int16_t *input;  // [batches, input_h, input_w, input_c]
  int16_t *output;       // [batches, output_h, output_w, input_c]
} pl_mean_pool2d_s16_data;

// pl_mean_pool2d_s8 for int16.
PL_MUST_USE pl_status pl_mean_pool2d_s16(const pl_context *ctx,
                                         const pl_mean_pool2d_s16_params *params,
                                         const pl_mean_pool2d_s16_dims *dims,
                                         const pl_mean_pool2d_s16_data *data);

#endif  // KERNELS_MEAN_POOL2D_MEAN_POOL2D_S16_H_
