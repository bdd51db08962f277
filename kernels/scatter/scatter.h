// SPDX-License-Identifier: Apache-2.0
// Scatters rows by indices. An index outside of [0, rows) ends the call with PL_ERROR_INDEX. The
// output is then incomplete.
#ifndef KERNELS_SCATTER_SCATTER_H_
#define KERNELS_SCATTER_SCATTER_H_

#include "kernels/common/types.h"

// For scatter_sum_s8 and _s16; null for the others.
typedef struct {
  int32_t input_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
} pl_scatter_params;

typedef struct {
  int32_t count;
  int32_t rows;
  int32_t width;  // in bytes for scatter
} pl_scatter_dims;

typedef struct {
  const void *base;        // [rows, width], of sums null
  const int32_t *indices;  // [count]
  const void *values;      // [count, width]
  void *output;            // [rows, width], of scatter may be the base
} pl_scatter_data;

// output = base, then output[indices[i]] = values[i], in order; elements of any type.
PL_MUST_USE pl_status pl_scatter_x8(const pl_context *ctx, const pl_scatter_params *params,
                                    const pl_scatter_dims *dims, const pl_scatter_data *data);

// output[r] = saturate_int8(requantize(s) + output_zero_point). s is the sum of values[i] -
// input_zero_point over all i with indices[i] = r. Scratch: rows * width int32.
PL_MUST_USE pl_status pl_scatter_sum_s8(const pl_context *ctx, const pl_scatter_params *params,
                                        const pl_scatter_dims *dims, const pl_scatter_data *data);

// Same for int16, with zero points 0, requantized as in kernels/common/wide.h; count < 2^16.
PL_MUST_USE pl_status pl_scatter_sum_s16(const pl_context *ctx, const pl_scatter_params *params,
                                         const pl_scatter_dims *dims, const pl_scatter_data *data);

// output[r] = the sum of values[i] over all i with indices[i] = r, in their order, in float32.
PL_MUST_USE pl_status pl_scatter_sum_f32(const pl_context *ctx, const pl_scatter_params *params,
                                         const pl_scatter_dims *dims, const pl_scatter_data *data);

#endif  // KERNELS_SCATTER_SCATTER_H_
