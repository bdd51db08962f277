// SPDX-License-Identifier: Apache-2.0
// The loops of the ops of this folder.
#ifndef KERNELS_REDUCE_FOLD_H_
#define KERNELS_REDUCE_FOLD_H_

#include "kernels/reduce/reduce.h"

// Takes the next value into a result.
typedef void pl_fold_function(void *result, int32_t value);

// Computes one output from where its values start.
typedef int32_t pl_reduce_function(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                   const int32_t *exp_table, const void *x);

// All functions are constants where these are inlined.
PL_INLINE void pl_fold(const pl_reduce_dims *dims, const void *x, int32_t bytes,
                       int32_t (*load)(const void *x), void *result, pl_fold_function *function) {
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int32_t start = i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      const char *at = (const char *)x + start * bytes;
      for (int32_t left = dims->reduced[2]; left > 0; --left) {
        function(result, load(at));
        at += dims->reduced_stride[2] * bytes;
      }
    }
  }
}

PL_INLINE int32_t pl_load_s8(const void *x) { return *(const int8_t *)x; }

PL_INLINE int32_t pl_load_s16(const void *x) { return *(const int16_t *)x; }

PL_INLINE void pl_fold_s8(const pl_reduce_dims *dims, const void *x, void *result,
                          pl_fold_function *function) {
  pl_fold(dims, x, 1, pl_load_s8, result, function);
}

PL_INLINE void pl_fold_s16(const pl_reduce_dims *dims, const void *x, void *result,
                           pl_fold_function *function) {
  pl_fold(dims, x, 2, pl_load_s16, result, function);
}

PL_INLINE pl_status pl_reduce(const pl_reduce_params *params, const pl_reduce_dims *dims,
                              const pl_reduce_data *data, int32_t bytes,
                              pl_reduce_function *function) {
  int32_t index = 0;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int32_t start = i * dims->kept_stride[0] + j * dims->kept_stride[1];
      const char *x = (const char *)data->input + start * bytes;
      for (int32_t left = dims->kept[2]; left > 0; --left, ++index) {
        const int32_t value = function(params, dims, data->exp_table, x);
        if (bytes == 1) {
          ((int8_t *)data->output)[index] = (int8_t)value;
        } else {
          ((int16_t *)data->output)[index] = (int16_t)value;
        }
        x += dims->kept_stride[2] * bytes;
      }
    }
  }
  return PL_OK;
}

PL_INLINE pl_status pl_reduce_s8(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                 const pl_reduce_data *data, pl_reduce_function *function) {
  return pl_reduce(params, dims, data, 1, function);
}

PL_INLINE pl_status pl_reduce_s16(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                  const pl_reduce_data *data, pl_reduce_function *function) {
  return pl_reduce(params, dims, data, 2, function);
}

#endif  // KERNELS_REDUCE_FOLD_H_
