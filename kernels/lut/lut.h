// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LUT_LUT_H_
#define KERNELS_LUT_LUT_H_

#include "kernels/common/types.h"

typedef struct pl_lut_params pl_lut_params;  // none: null

typedef struct {
  int32_t size;
} pl_lut_dims;

typedef struct {
  const int8_t *input;  // [size]
  const int8_t *table;  // [256]
  int8_t *output;       // [size], may be the input
} pl_lut_data;

// output = table[input + 128]: any function of one int8 value.
PL_MUST_USE pl_status pl_lut_s8(const pl_context *ctx, const pl_lut_params *params,
                                const pl_lut_dims *dims, const pl_lut_data *data);

#endif  // KERNELS_LUT_LUT_H_
