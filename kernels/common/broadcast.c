// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/broadcast.h"

bool pl_broadcast_carry(const pl_broadcast_dims *dims, pl_broadcast_row *row) {
  if (dims->size[0] * dims->size[1] * dims->size[2] == 1) return false;  // most often
  for (int32_t d = PL_BROADCAST_DIMS - 2; d > 0; --d) {
    row->index[d] = 0;
    row->a += dims->a_stride[d - 1] - dims->a_stride[d] * dims->size[d];
    row->b += dims->b_stride[d - 1] - dims->b_stride[d] * dims->size[d];
    if (++row->index[d - 1] < dims->size[d - 1]) return true;
  }
  return false;
}
