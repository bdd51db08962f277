// SPDX-License-Identifier: Apache-2.0
// As elementwise.h, sixteen at a time, for functions of a and b alone whose a does not repeat in a
// row.
#ifndef KERNELS_BINARY_ELEMENTWISE_MVE_H_
#define KERNELS_BINARY_ELEMENTWISE_MVE_H_

#include <arm_mve.h>

#include "kernels/binary/binary.h"

#define PL_LANES 16

static inline pl_status pl_elementwise_mve(const pl_binary_dims *dims, const pl_binary_data *data,
                                           int8x16_t (*function)(int8x16_t a, int8x16_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1] * PL_LANES;
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *a = data->a + row.a;
    const int8_t *b = data->b + row.b;
    for (int32_t left = size; left > 0; left -= PL_LANES) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      const int8x16_t y = b_step == 0 ? vdupq_n_s8(*b) : vldrbq_z_s8(b, lanes);
      vstrbq_p_s8(output, function(vldrbq_z_s8(a, lanes), y), lanes);
      a += PL_LANES;
      b += b_step;
      output += left < PL_LANES ? left : PL_LANES;
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

#endif  // KERNELS_BINARY_ELEMENTWISE_MVE_H_
