// SPDX-License-Identifier: Apache-2.0
// Same as elementwise.h, four at a time, for functions of a and b alone whose a does not repeat in
// a row.
#ifndef KERNELS_BINARY_ELEMENTWISE_DSP_H_
#define KERNELS_BINARY_ELEMENTWISE_DSP_H_

#include "kernels/binary/binary.h"
#include "kernels/common/dsp.h"

static inline pl_status pl_elementwise_dsp(const pl_binary_dims *dims, const pl_binary_data *data,
                                           int8x4_t (*function)(int8x4_t a, int8x4_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *a = data->a + row.a;
    const int8_t *b = data->b + row.b;
    const int8x4_t value = (int8x4_t)((uint8_t)*b * 0x01010101U);
    for (const int8_t *end = output + (size & ~3); output != end; output += 4) {
      const int8x4_t four = function(pl_load_4(a), b_step == 0 ? value : pl_load_4(b));
      __builtin_memcpy(output, &four, 4);
      a += 4;
      b += 4 * b_step;
    }
    for (int32_t left = size & 3; left > 0; --left) {
      *output++ = (int8_t)function(*a++, *b);
      b += b_step;
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

#endif  // KERNELS_BINARY_ELEMENTWISE_DSP_H_
