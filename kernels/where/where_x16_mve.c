// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/operands_mve.h"
#include "kernels/where/where_loop.h"

pl_status pl_where_x16(const pl_context *ctx, const pl_where_params *params,
                       const pl_where_dims *dims, const pl_where_data *data) {
  (void)ctx;
  (void)params;
  const int32_t size = dims->size[PL_MAX_RANK - 1];
  const int32_t mask_step = dims->mask_stride[PL_MAX_RANK - 1];
  const int32_t a_step = dims->a_stride[PL_MAX_RANK - 1];
  const int32_t b_step = dims->b_stride[PL_MAX_RANK - 1];
  int8_t mask_repeated[16];
  int16_t a_repeated[8];
  int16_t b_repeated[8];
  int16_t *output = data->output;
  pl_where_row row = {0};
  do {
    const int8_t *mask = pl_row_s8((const int8_t *)data->mask + row.mask, mask_step, mask_repeated);
    const int16_t *a = pl_row_s16((const int16_t *)data->a + row.a, a_step, a_repeated);
    const int16_t *b = pl_row_s16((const int16_t *)data->b + row.b, b_step, b_repeated);
    int16_t *y = output;
    for (int32_t left = size; left > 0; left -= 8) {
      const mve_pred16_t lanes = vctp16q((uint32_t)left);
      const mve_pred16_t first = vcmpneq_n_s16(vldrbq_z_s16(mask, lanes), 0);
      const int16x8_t x = vldrhq_z_s16(a, lanes);
      vstrhq_p_s16(y, vpselq_s16(x, vldrhq_z_s16(b, lanes), first), lanes);
      mask += mask_step * 8;
      a += a_step * 8;
      b += b_step * 8;
      y += 8;
    }
    output += size;
  } while (pl_where_next(dims, &row));
  return PL_OK;
}
