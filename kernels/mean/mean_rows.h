// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MEAN_MEAN_ROWS_H_
#define KERNELS_MEAN_MEAN_ROWS_H_

#include "kernels/common/types.h"
#include "kernels/mean/mean.h"

typedef pl_mean_params pl_mean_rows_params;

typedef struct {
  int32_t channels;
  int32_t pixels;  // of a row
  int32_t count;   // of all rows
  int32_t rows;    // number of rows in this call
  int32_t row;     // the first of them
} pl_mean_rows_dims;

typedef struct {
  const int8_t *input;  // [rows, pixels, channels]
  int8_t *output;       // [channels], written by the call with the last row
} pl_mean_rows_data;

// pl_mean_s8 over all pixels of an image, with some rows per call, in order. The sums are in
// scratch memory, 4 bytes per channel. Scratch must keep its contents between calls. The call with
// row 0 starts the sums.
PL_MUST_USE pl_status pl_mean_rows_s8(const pl_context *ctx, const pl_mean_rows_params *params,
                                      const pl_mean_rows_dims *dims, const pl_mean_rows_data *data);

#endif  // KERNELS_MEAN_MEAN_ROWS_H_
