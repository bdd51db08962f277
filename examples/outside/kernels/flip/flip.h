// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_FLIP_FLIP_H_
#define KERNELS_FLIP_FLIP_H_

#include "kernels/common/types.h"

typedef struct pl_flip_params pl_flip_params;  // none: null

typedef struct {
  int32_t outer;
  int32_t size;
  int32_t inner;
} pl_flip_dims;

typedef struct {
  const int8_t *input;  // [outer, size, inner]
  int8_t *output;       // [outer, size, inner]
} pl_flip_data;

// output[o, i, n] = input[o, size - 1 - i, n].
PL_MUST_USE pl_status pl_flip_x8(const pl_context *ctx, const pl_flip_params *params,
                                 const pl_flip_dims *dims, const pl_flip_data *data);

#endif  // KERNELS_FLIP_FLIP_H_
