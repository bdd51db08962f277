// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/broadcast.h"

bool pl_broadcast_next(const pl_broadcast_dims *dims, pl_broadcast_row *row) {
  for (int32_t d = PL_BROADCAST_DIMS - 2; d >= 0; --d) {
    row->a += dims->a_stride[d];
    row->b += dims->b_stride[d];
    if (++row->index[d] < dims->size[d]) return true;
    row->index[d] = 0;
    row->a -= dims->a_stride[d] * dims->size[d];
    row->b -= dims->b_stride[d] * dims->size[d];
  }
  return false;
}
