// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_CAT_CAT_H_
#define KERNELS_CAT_CAT_H_

#include "kernels/common/types.h"

typedef struct pl_cat_params pl_cat_params;  // none: null

typedef struct {
  int32_t inputs;
  int32_t outer;        // product of the dimensions before the concatenated one
  int32_t output_step;  // bytes of the output for each of them
} pl_cat_dims;

typedef struct {
  const void *address;
  int32_t bytes;  // of the input for each of the outer dimensions
} pl_cat_input;

typedef struct {
  const pl_cat_input *inputs;  // [inputs]
  void *output;
} pl_cat_data;

// Concatenates tensors along a dimension; elements of any size, all of the same quantization.
PL_MUST_USE pl_status pl_cat_x8(const pl_context *ctx, const pl_cat_params *params,
                                const pl_cat_dims *dims, const pl_cat_data *data);

#endif  // KERNELS_CAT_CAT_H_
