// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_ROLL_ROLL_H_
#define KERNELS_ROLL_ROLL_H_

#include "kernels/common/types.h"

typedef struct pl_roll_params pl_roll_params;  // none: null

typedef struct {
  int32_t outer;
  int32_t size;   // bytes of the rolled dimension, including inner ones
  int32_t shift;  // in bytes, at least 0 and below size
} pl_roll_dims;

typedef struct {
  const int8_t *input;  // [outer, size]
  int8_t *output;       // [outer, size]
} pl_roll_data;

// output[o, (i + shift) mod size] = input[o, i].
PL_MUST_USE pl_status pl_roll_s8(const pl_context *ctx, const pl_roll_params *params,
                                 const pl_roll_dims *dims, const pl_roll_data *data);

#endif  // KERNELS_ROLL_ROLL_H_
