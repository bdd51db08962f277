// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LUT_LUT_S16_H_
#define KERNELS_LUT_LUT_S16_H_

#include "kernels/common/types.h"

typedef struct pl_lut_s16_params pl_lut_s16_params;  // none: null

typedef struct {
  int32_t size;
} pl_lut_s16_dims;

typedef struct {
  const int16_t *input;  // [size]
  const int16_t *table;  // [513], an entry for each 128 integers
  int16_t *output;       // [size], may be the input
} pl_lut_s16_data;

// A function of one int16 value: table[(input + 2^15) / 2^7], with straight lines between entries,
// rounded to nearest, ties up. TFLite's int16 tables.
PL_MUST_USE pl_status pl_lut_s16(const pl_context *ctx, const pl_lut_s16_params *params,
                                 const pl_lut_s16_dims *dims, const pl_lut_s16_data *data);

#endif  // KERNELS_LUT_LUT_S16_H_
