// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_WHERE_WHERE_H_
#define KERNELS_WHERE_WHERE_H_

#include "kernels/common/types.h"

typedef struct pl_where_params pl_where_params;  // none: null

// Nested loops over the contiguous result, outermost first. Strides are in elements, 0 where an
// operand repeats.
typedef struct {
  int32_t size[PL_MAX_RANK];
  int32_t mask_stride[PL_MAX_RANK];
  int32_t a_stride[PL_MAX_RANK];
  int32_t b_stride[PL_MAX_RANK];
} pl_where_dims;

typedef struct {
  const uint8_t *mask;  // 0 or 1
  const void *a;
  const void *b;
  void *output;  // may alias an operand of its size without broadcast
} pl_where_data;

// a where mask, else b: elements of one byte, of two and of four. Operands broadcast as in numpy.
PL_MUST_USE pl_status pl_where_x8(const pl_context *ctx, const pl_where_params *params,
                                  const pl_where_dims *dims, const pl_where_data *data);
PL_MUST_USE pl_status pl_where_x16(const pl_context *ctx, const pl_where_params *params,
                                   const pl_where_dims *dims, const pl_where_data *data);
PL_MUST_USE pl_status pl_where_x32(const pl_context *ctx, const pl_where_params *params,
                                   const pl_where_dims *dims, const pl_where_data *data);

#endif  // KERNELS_WHERE_WHERE_H_
