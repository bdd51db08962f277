// SPDX-License-Identifier: Apache-2.0
// The loops of the ops of this folder.
#ifndef KERNELS_REDUCE_F32_FOLD_H_
#define KERNELS_REDUCE_F32_FOLD_H_

#include "kernels/reduce_f32/reduce_f32.h"

// `function` joins a result so far, at first `start`, and a value; both are constants where this is
// inlined.
static inline float pl_fold_1_f32(const pl_reduce_f32_dims *dims, const float *x, float start,
                                  float (*function)(float result, float value)) {
  float result = start;
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const float *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; --left, at += dims->reduced_stride[2]) {
        result = function(result, *at);
      }
    }
  }
  return result;
}

static inline pl_status pl_fold_f32(const pl_reduce_f32_dims *dims, const pl_reduce_f32_data *data,
                                    float start, float (*function)(float result, float value)) {
  float *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const float *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t left = dims->kept[2]; left > 0; --left, x += dims->kept_stride[2]) {
        *output++ = pl_fold_1_f32(dims, x, start, function);
      }
    }
  }
  return PL_OK;
}

#endif  // KERNELS_REDUCE_F32_FOLD_H_
