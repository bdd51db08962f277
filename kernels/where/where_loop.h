// SPDX-License-Identifier: Apache-2.0
// The loop over rows.
#ifndef KERNELS_WHERE_WHERE_LOOP_H_
#define KERNELS_WHERE_WHERE_LOOP_H_

#include <stdbool.h>

#include "kernels/where/where.h"

// Offsets of the start of a row; all zero for the first.
typedef struct {
  int32_t index[PL_MAX_RANK - 1];
  int32_t mask;
  int32_t a;
  int32_t b;
} pl_where_row;

// Moves on to the next row. Returns false after the last.
static inline bool pl_where_next(const pl_where_dims *dims, pl_where_row *row) {
  for (int32_t d = PL_MAX_RANK - 2; d >= 0; --d) {
    row->mask += dims->mask_stride[d];
    row->a += dims->a_stride[d];
    row->b += dims->b_stride[d];
    if (++row->index[d] < dims->size[d]) return true;
    row->index[d] = 0;
    row->mask -= dims->mask_stride[d] * dims->size[d];
    row->a -= dims->a_stride[d] * dims->size[d];
    row->b -= dims->b_stride[d] * dims->size[d];
  }
  return false;
}

#endif  // KERNELS_WHERE_WHERE_LOOP_H_
