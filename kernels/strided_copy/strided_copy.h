// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_STRIDED_COPY_STRIDED_COPY_H_
#define KERNELS_STRIDED_COPY_STRIDED_COPY_H_

#include "kernels/common/types.h"

typedef struct pl_strided_copy_params pl_strided_copy_params;  // none: null

// Nested loops, outermost first, with strides and offsets in elements. kernels/common/strided.py
// selects the loops for a long innermost one.
typedef struct {
  int32_t size[PL_MAX_RANK];
  int32_t input_stride[PL_MAX_RANK];
  int32_t output_stride[PL_MAX_RANK];
  int32_t input_offset;
  int32_t output_offset;
} pl_strided_copy_dims;

typedef struct {
  const void *input;
  void *output;
} pl_strided_copy_data;

// Moves elements of one byte (x8), two or four (x16, x32, both tensors aligned to their size):
// transpose and slice.
PL_MUST_USE pl_status pl_strided_copy_x8(const pl_context *ctx,
                                         const pl_strided_copy_params *params,
                                         const pl_strided_copy_dims *dims,
                                         const pl_strided_copy_data *data);
PL_MUST_USE pl_status pl_strided_copy_x16(const pl_context *ctx,
                                          const pl_strided_copy_params *params,
                                          const pl_strided_copy_dims *dims,
                                          const pl_strided_copy_data *data);
PL_MUST_USE pl_status pl_strided_copy_x32(const pl_context *ctx,
                                          const pl_strided_copy_params *params,
                                          const pl_strided_copy_dims *dims,
                                          const pl_strided_copy_data *data);

// Start of the innermost loop, relative to both offsets.
typedef struct {
  int32_t index[PL_MAX_RANK - 1];
  int32_t input;
  int32_t output;
} pl_strided_row;

// Moves on to the next row. Returns 0 after the last.
int32_t pl_strided_next(const pl_strided_copy_dims *dims, pl_strided_row *row);

#endif  // KERNELS_STRIDED_COPY_STRIDED_COPY_H_
