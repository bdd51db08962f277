// SPDX-License-Identifier: Apache-2.0
// The loops of sums of integers.
#ifndef KERNELS_REDUCE_SUMS_H_
#define KERNELS_REDUCE_SUMS_H_

#include "kernels/reduce/reduce.h"

// `load` gives the element at an index; a constant where this is inlined.
static inline pl_status pl_sums(const pl_reduce_dims *dims, const pl_reduce_data *data,
                                uint32_t (*load)(const void *input, int32_t index)) {
  int32_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      int32_t at = i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t left = dims->kept[2]; left > 0; --left, at += dims->kept_stride[2]) {
        uint32_t sum = 0;
        for (int32_t k = 0; k < dims->reduced[0]; ++k) {
          for (int32_t l = 0; l < dims->reduced[1]; ++l) {
            const int32_t from = at + k * dims->reduced_stride[0] + l * dims->reduced_stride[1];
            for (int32_t m = 0; m < dims->reduced[2]; ++m) {
              sum += load(data->input, from + m * dims->reduced_stride[2]);
            }
          }
        }
        *output++ = (int32_t)sum;
      }
    }
  }
  return PL_OK;
}

#endif  // KERNELS_REDUCE_SUMS_H_
