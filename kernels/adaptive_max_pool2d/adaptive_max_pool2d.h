// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_ADAPTIVE_MAX_POOL2D_ADAPTIVE_MAX_POOL2D_H_
#define KERNELS_ADAPTIVE_MAX_POOL2D_ADAPTIVE_MAX_POOL2D_H_

#include "kernels/common/adaptive_pool_s8.h"
#include "kernels/common/types.h"

typedef struct pl_adaptive_max_pool2d_params pl_adaptive_max_pool2d_params;  // none: null

typedef pl_adaptive_pool2d_dims pl_adaptive_max_pool2d_dims;

typedef struct {
  const int8_t *input;  // [batches, input_h, input_w, input_c]
  int8_t *output;       // [batches, output_h, output_w, input_c]
} pl_adaptive_max_pool2d_data;

// Maximum of each window. Windows cover the input: window i of an axis is
// [floor(i * input / output), ceil((i + 1) * input / output)). torch's adaptive_max_pool2d.
PL_MUST_USE pl_status pl_adaptive_max_pool2d_s8(const pl_context *ctx,
                                                const pl_adaptive_max_pool2d_params *params,
                                                const pl_adaptive_max_pool2d_dims *dims,
                                                const pl_adaptive_max_pool2d_data *data);

#endif  // KERNELS_ADAPTIVE_MAX_POOL2D_ADAPTIVE_MAX_POOL2D_H_
