// SPDX-License-Identifier: Apache-2.0
// The loops of the ops of this folder.
#ifndef KERNELS_BINARY_F32_ELEMENTWISE_H_
#define KERNELS_BINARY_F32_ELEMENTWISE_H_

#include <stdbool.h>

#include "kernels/binary_f32/binary_f32.h"

// `function` is a constant where this is inlined.
static inline pl_status pl_elementwise_f32(const pl_binary_f32_dims *dims,
                                           const pl_binary_f32_data *data,
                                           float (*function)(float a, float b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  float *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const float *a = data->a + row.a;
    const float *b = data->b + row.b;
    for (int32_t left = size; left > 0; --left, a += a_step, b += b_step) {
      *output++ = function(*a, *b);
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

// The same for a function that returns a bool.
static inline pl_status pl_compare_f32(const pl_binary_f32_dims *dims,
                                       const pl_binary_f32_data *data,
                                       bool (*function)(float a, float b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  uint8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const float *a = data->a + row.a;
    const float *b = data->b + row.b;
    for (int32_t left = size; left > 0; --left, a += a_step, b += b_step) {
      *output++ = function(*a, *b);
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

#endif  // KERNELS_BINARY_F32_ELEMENTWISE_H_
