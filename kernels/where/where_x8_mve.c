// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/operands_mve.h"
#include "kernels/where/where_loop.h"

pl_status pl_where_x8(const pl_context *ctx, const pl_where_params *params,
                      const pl_where_dims *dims, const pl_where_data *data) {
  (void)ctx;
  (void)params;
  const int32_t size = dims->size[PL_MAX_RANK - 1];
  const int32_t mask_step = dims->mask_stride[PL_MAX_RANK - 1];
  const int32_t a_step = dims->a_stride[PL_MAX_RANK - 1];
  const int32_t b_step = dims->b_stride[PL_MAX_RANK - 1];
  int8_t mask_repeated[16];
  int8_t a_repeated[16];
  int8_t b_repeated[16];
  int8_t *output = data->output;
  pl_where_row row = {0};
  do {
    const int8_t *mask = pl_row_s8((const int8_t *)data->mask + row.mask, mask_step, mask_repeated);
    const int8_t *a = pl_row_s8((const int8_t *)data->a + row.a, a_step, a_repeated);
    const int8_t *b = pl_row_s8((const int8_t *)data->b + row.b, b_step, b_repeated);
    int8_t *y = output;
    for (int32_t left = size; left > 0; left -= 16) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      const mve_pred16_t first = vcmpneq_n_s8(vldrbq_z_s8(mask, lanes), 0);
      const int8x16_t x = vldrbq_z_s8(a, lanes);
      vstrbq_p_s8(y, vpselq_s8(x, vldrbq_z_s8(b, lanes), first), lanes);
      mask += mask_step * 16;
      a += a_step * 16;
      b += b_step * 16;
      y += 16;
    }
    output += size;
  } while (pl_where_next(dims, &row));
  return PL_OK;
}
