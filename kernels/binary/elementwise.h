// SPDX-License-Identifier: Apache-2.0
// The loops of the ops of this folder.
#ifndef KERNELS_BINARY_ELEMENTWISE_H_
#define KERNELS_BINARY_ELEMENTWISE_H_

#include "kernels/binary/binary.h"
#include "kernels/binary/binary_s16.h"

// `function` is a constant after inlining. params are a copy, safe from stores to the output.
static inline pl_status pl_elementwise_s8(const pl_binary_params *params,
                                          const pl_binary_dims *dims, const pl_binary_data *data,
                                          int8_t (*function)(const pl_binary_params *params,
                                                             const int16_t *table, int32_t a,
                                                             int32_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  const int16_t *table = data->table;
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *a = data->a + row.a;
    const int8_t *b = data->b + row.b;
    for (int32_t left = size; left > 0; --left, a += a_step, b += b_step) {
      *output++ = function(params, table, *a, *b);
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

// The same for int16; the function's result is written as an output of `bytes` bytes, 1 or 2.
static inline pl_status pl_elementwise_s16(const pl_binary_params *params,
                                           const pl_binary_dims *dims,
                                           const pl_binary_s16_data *data, int32_t bytes,
                                           int16_t (*function)(const pl_binary_params *params,
                                                               const int32_t *factors, int32_t a,
                                                               int32_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  uint8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int16_t *a = data->a + row.a;
    const int16_t *b = data->b + row.b;
    for (int32_t left = size; left > 0; --left, a += a_step, b += b_step, output += bytes) {
      const int16_t value = function(params, data->factors, *a, *b);
      if (bytes == 1) {
        *output = (uint8_t)value;
      } else {
        *(int16_t *)(void *)output = value;
      }
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

#endif  // KERNELS_BINARY_ELEMENTWISE_H_
