// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_BMM_BMM_H_
#define KERNELS_BMM_BMM_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

// Columns of b multiplied at a time.
#define PL_BMM_COLUMNS 4

typedef struct {
  int32_t a_zero_point;
  int32_t b_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
  int32_t activation_min;
  int32_t activation_max;
} pl_bmm_params;

typedef struct {
  pl_broadcast_dims batch;  // the innermost dimension has size 1; strides in elements
  int32_t rows;
  int32_t depth;
  int32_t columns;
  int32_t a_row_stride;     // in elements, from a[m] to a[m + 1]; a row is contiguous
  int32_t b_depth_stride;   // in elements, from b[k][n] to b[k + 1][n]
  int32_t b_column_stride;  // to b[k][n + 1]
} pl_bmm_dims;

typedef struct {
  const int8_t *a;  // [batch..., rows, depth], with these strides
  const int8_t *b;  // [batch..., depth, columns], likewise
  int8_t *output;   // [batch..., rows, columns]
} pl_bmm_data;

// output[m][n] = clamp(requantize(sum_k (a[m][k] - a_zero_point) * (b[k][n] - b_zero_point)) +
//                      output_zero_point) in each batch. TFLite int8 BATCH_MATMUL.
// Scratch: 2 * PL_BMM_COLUMNS * depth bytes; on cores with Helium PL_BMM_COLUMNS * depth, or none
// if b_depth_stride is 1.
PL_MUST_USE pl_status pl_bmm_s8(const pl_context *ctx, const pl_bmm_params *params,
                                const pl_bmm_dims *dims, const pl_bmm_data *data);

// The same for shifts in [-20, -1] and sums below 2^30, on cores without Helium.
PL_MUST_USE pl_status pl_bmm_down_s8(const pl_context *ctx, const pl_bmm_params *params,
                                     const pl_bmm_dims *dims, const pl_bmm_data *data);

#endif  // KERNELS_BMM_BMM_H_
