// SPDX-License-Identifier: Apache-2.0
// The loops of elementwise.h, four at a time.
#ifndef KERNELS_INTEGER_ELEMENTWISE_MVE_H_
#define KERNELS_INTEGER_ELEMENTWISE_MVE_H_

#include "kernels/common/operands_mve.h"
#include "kernels/integer/integer.h"

static inline pl_status pl_integers_mve(const pl_integer_dims *dims, const pl_integer_data *data,
                                        int32x4_t (*function)(int32x4_t a, int32x4_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int32_t a_repeated[4];
  int32_t b_repeated[4];
  int32_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int32_t *a = pl_row_s32(data->a + row.a, a_step, a_repeated);
    const int32_t *b = pl_row_s32(data->b + row.b, b_step, b_repeated);
    int32_t *y = output;
    for (int32_t left = size; left > 0; left -= 4) {
      const mve_pred16_t lanes = vctp32q((uint32_t)left);
      vstrwq_p_s32(y, function(vldrwq_z_s32(a, lanes), vldrwq_z_s32(b, lanes)), lanes);
      a += 4 * a_step;
      b += 4 * b_step;
      y += 4;
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

static inline pl_status pl_integer_mask_mve(const pl_integer_dims *dims,
                                            const pl_integer_data *data,
                                            mve_pred16_t (*function)(int32x4_t a, int32x4_t b)) {
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  const uint32x4_t yes = vdupq_n_u32(1);
  const uint32x4_t no = vdupq_n_u32(0);
  int32_t a_repeated[4];
  int32_t b_repeated[4];
  uint8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int32_t *a = pl_row_s32(data->a + row.a, a_step, a_repeated);
    const int32_t *b = pl_row_s32(data->b + row.b, b_step, b_repeated);
    uint8_t *y = output;
    for (int32_t left = size; left > 0; left -= 4) {
      const mve_pred16_t lanes = vctp32q((uint32_t)left);
      const mve_pred16_t is = function(vldrwq_z_s32(a, lanes), vldrwq_z_s32(b, lanes));
      vstrbq_p_u32(y, vpselq_u32(yes, no, is), lanes);
      a += 4 * a_step;
      b += 4 * b_step;
      y += 4;
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}

#endif  // KERNELS_INTEGER_ELEMENTWISE_MVE_H_
