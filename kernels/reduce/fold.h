// SPDX-License-Identifier: Apache-2.0
// The loops of the ops of this folder.
#ifndef KERNELS_REDUCE_FOLD_H_
#define KERNELS_REDUCE_FOLD_H_

#include "kernels/reduce/reduce.h"

// `function` takes the next value into a result; it is a constant where this is inlined.
static inline void pl_fold_s8(const pl_reduce_dims *dims, const int8_t *x, void *result,
                              void (*function)(void *result, int32_t value)) {
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; --left, at += dims->reduced_stride[2]) {
        function(result, *at);
      }
    }
  }
}

// `function` computes one output from where its values start.
static inline pl_status pl_reduce_s8(
    const pl_reduce_params *params, const pl_reduce_dims *dims, const pl_reduce_data *data,
    int8_t (*function)(const pl_reduce_params *params, const pl_reduce_dims *dims,
                       const int32_t *exp_table, const int8_t *x)) {
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x =
          (const int8_t *)data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t left = dims->kept[2]; left > 0; --left, x += dims->kept_stride[2]) {
        *output++ = function(params, dims, data->exp_table, x);
      }
    }
  }
  return PL_OK;
}

#endif  // KERNELS_REDUCE_FOLD_H_
