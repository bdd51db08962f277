// SPDX-License-Identifier: Apache-2.0
// The loops of cumsum.
#ifndef KERNELS_REDUCE_CUMSUM_H_
#define KERNELS_REDUCE_CUMSUM_H_

#include "kernels/reduce/reduce.h"

// Sums `size` elements, starting at index start, with a distance of `step`.
typedef void pl_cumsum_function(const pl_reduce_params *params, const void *input, int32_t start,
                                int32_t size, int32_t step, void *output);

// The function is a constant where this is inlined.
PL_INLINE pl_status pl_cumsum_rows(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                   const pl_reduce_data *data, pl_cumsum_function *function) {
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      int32_t start = i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t left = dims->kept[2]; left > 0; --left, start += dims->kept_stride[2]) {
        function(params, data->input, start, dims->reduced[2], dims->reduced_stride[2],
                 data->output);
      }
    }
  }
  return PL_OK;
}

#endif  // KERNELS_REDUCE_CUMSUM_H_
