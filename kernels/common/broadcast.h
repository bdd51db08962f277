// SPDX-License-Identifier: Apache-2.0
// Loops of elementwise ops of two operands with numpy broadcasting.
#ifndef KERNELS_COMMON_BROADCAST_H_
#define KERNELS_COMMON_BROADCAST_H_

#include <stdbool.h>
#include <stdint.h>

#define PL_BROADCAST_DIMS 5

// The result is contiguous, of `size`, outermost dimension first. Strides are in elements, 0 if an
// operand repeats. kernels/common/shapes.py merges dimensions. It ensures that in the innermost one
// (the row) each operand has stride 1, or 0 for one value for the whole row.
typedef struct {
  int32_t size[PL_BROADCAST_DIMS];
  int32_t a_stride[PL_BROADCAST_DIMS];
  int32_t b_stride[PL_BROADCAST_DIMS];
} pl_broadcast_dims;

// Offsets of the start of a row; all zero for the first.
typedef struct {
  int32_t index[PL_BROADCAST_DIMS - 1];
  int32_t a;  // offset in elements
  int32_t b;
} pl_broadcast_row;

// Moves from the end of a dimension to the next row; false after the last of all.
bool pl_broadcast_carry(const pl_broadcast_dims *dims, pl_broadcast_row *row);

// Moves to the next row of the result, false after the last. Inlined because rows may be short.
static inline bool pl_broadcast_next(const pl_broadcast_dims *dims, pl_broadcast_row *row) {
  const int32_t d = PL_BROADCAST_DIMS - 2;
  row->a += dims->a_stride[d];
  row->b += dims->b_stride[d];
  return ++row->index[d] < dims->size[d] || pl_broadcast_carry(dims, row);
}

// The same from the first row of the innermost two dimensions to that of the next two.
static inline bool pl_broadcast_next_rows(const pl_broadcast_dims *dims, pl_broadcast_row *row) {
  const int32_t d = PL_BROADCAST_DIMS - 2;
  if (dims->size[0] * dims->size[1] * dims->size[2] == 1) return false;  // most often
  row->a += dims->a_stride[d] * dims->size[d];
  row->b += dims->b_stride[d] * dims->size[d];
  return pl_broadcast_carry(dims, row);
}

#endif  // KERNELS_COMMON_BROADCAST_H_
