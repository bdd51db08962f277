// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_ADD_ADD_LINES_H_
#define KERNELS_ADD_ADD_LINES_H_

#include "kernels/common/types.h"

#define PL_ADD_LINES_BITS 21

typedef struct {
  int32_t a_slope;
  int32_t b_slope;
  int32_t start;
  int32_t activation_min;
  int32_t activation_max;
} pl_add_lines_params;

typedef struct {
  int32_t size;
} pl_add_lines_dims;

typedef struct {
  const int8_t *a;  // [size]
  const int8_t *b;  // [size]
  int8_t *output;   // [size]; may alias a or b
} pl_add_lines_data;

// pl_add_s8 on cores with 16-bit Thumb instructions, without broadcasting: output = clamp((a *
// a_slope + b * b_slope + start) >> PL_ADD_LINES_BITS). kernels/common/lines.py finds the constants
// if this is exact for all pairs of values.
PL_MUST_USE pl_status pl_add_lines_s8(const pl_context *ctx, const pl_add_lines_params *params,
                                      const pl_add_lines_dims *dims, const pl_add_lines_data *data);

#endif  // KERNELS_ADD_ADD_LINES_H_
