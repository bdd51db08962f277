// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided_copy/strided_copy.h"

int32_t pl_strided_next(const pl_strided_copy_dims *dims, pl_strided_row *row) {
  for (int32_t d = PL_MAX_RANK - 2; d >= 0; --d) {
    row->input += dims->input_stride[d];
    row->output += dims->output_stride[d];
    if (++row->index[d] < dims->size[d]) return 1;
    row->index[d] = 0;
    row->input -= dims->input_stride[d] * dims->size[d];
    row->output -= dims->output_stride[d] * dims->size[d];
  }
  return 0;
}
