// SPDX-License-Identifier: Apache-2.0
// The loops of the ops of this folder; `function` is a constant where they are inlined.
#ifndef KERNELS_INTEGER_ELEMENTWISE_H_
#define KERNELS_INTEGER_ELEMENTWISE_H_

#include <stdbool.h>

#include "kernels/integer/integer.h"

static inline pl_status pl_integers(const pl_integer_dims *dims, const pl_integer_data *data,
                                    int32_t (*function)(int32_t a, int32_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int32_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int32_t *a = data->a + row.a;
    const int32_t *b = data->b + row.b;
    for (int32_t left = size; left > 0; --left, a += a_step, b += b_step) {
      *output++ = function(*a, *b);
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

static inline pl_status pl_integer_mask(const pl_integer_dims *dims, const pl_integer_data *data,
                                        bool (*function)(int32_t a, int32_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  uint8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int32_t *a = data->a + row.a;
    const int32_t *b = data->b + row.b;
    for (int32_t left = size; left > 0; --left, a += a_step, b += b_step) {
      *output++ = function(*a, *b);
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

// The remainder of a division towards zero has the dividend's sign. INT32_MIN / -1 does not fit in
// int32. b is not 0.
static inline int32_t pl_integer_rest(int32_t a, int32_t b) { return b == -1 ? 0 : a % b; }

#endif  // KERNELS_INTEGER_ELEMENTWISE_H_
