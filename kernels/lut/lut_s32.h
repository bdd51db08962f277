// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LUT_LUT_S32_H_
#define KERNELS_LUT_LUT_S32_H_

#include "kernels/lut/lut.h"

typedef struct pl_lut_s32_params pl_lut_s32_params;  // none: null
typedef pl_lut_dims pl_lut_s32_dims;

typedef struct {
  const int8_t *input;   // [size]
  const int32_t *table;  // [256]
  int32_t *output;       // [size]
} pl_lut_s32_data;

// output = table[input + 128]: any pointwise function of int8 with integer results.
PL_MUST_USE pl_status pl_lut_s32(const pl_context *ctx, const pl_lut_s32_params *params,
                                 const pl_lut_s32_dims *dims, const pl_lut_s32_data *data);

#endif  // KERNELS_LUT_LUT_S32_H_
