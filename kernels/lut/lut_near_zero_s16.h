// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LUT_LUT_NEAR_ZERO_S16_H_
#define KERNELS_LUT_LUT_NEAR_ZERO_S16_H_

#include "kernels/common/types.h"

typedef struct pl_lut_near_zero_s16_params pl_lut_near_zero_s16_params;  // none: null

typedef struct {
  int32_t size;
} pl_lut_near_zero_s16_dims;

typedef struct {
  const int16_t *input;  // [size]
  const int16_t *table;  // [513 + 1024]: table of pl_lut_s16, and one entry for each of -512 to 511
  int16_t *output;       // [size], may be the input
} pl_lut_near_zero_s16_data;

// A pointwise function of int16 with a steep slope near zero, such as a logarithm. For -512 <=
// input < 512 it is table[513 + 512 + input]. All other values are as in pl_lut_s16.
PL_MUST_USE pl_status pl_lut_near_zero_s16(const pl_context *ctx,
                                           const pl_lut_near_zero_s16_params *params,
                                           const pl_lut_near_zero_s16_dims *dims,
                                           const pl_lut_near_zero_s16_data *data);

#endif  // KERNELS_LUT_LUT_NEAR_ZERO_S16_H_
