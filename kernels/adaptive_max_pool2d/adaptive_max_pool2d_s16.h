// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_ADAPTIVE_MAX_POOL2D_ADAPTIVE_MAX_POOL2D_S16_H_
#define KERNELS_ADAPTIVE_MAX_POOL2D_ADAPTIVE_MAX_POOL2D_S16_H_

#include "kernels/adaptive_max_pool2d/adaptive_max_pool2d.h"

typedef pl_adaptive_max_pool2d_params pl_adaptive_max_pool2d_s16_params;  // none: null

typedef pl_adaptive_pool2d_dims pl_adaptive_max_pool2d_s16_dims;

typedef struct {
  const int16_t *input;  // [batches, input_h, input_w, input_c]
  int16_t *output;       // [batches, output_h, output_w, input_c]
} pl_adaptive_max_pool2d_s16_data;

// Same as pl_adaptive_max_pool2d_s8, for int16.
PL_MUST_USE pl_status pl_adaptive_max_pool2d_s16(const pl_context *ctx,
                                                 const pl_adaptive_max_pool2d_s16_params *params,
                                                 const pl_adaptive_max_pool2d_s16_dims *dims,
                                                 const pl_adaptive_max_pool2d_s16_data *data);

#endif  // KERNELS_ADAPTIVE_MAX_POOL2D_ADAPTIVE_MAX_POOL2D_S16_H_
