// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/operands_mve.h"
#include "kernels/integer/integer.h"

pl_status pl_integer_place(const pl_context *ctx, const pl_integer_params *params,
                           const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  const uint32x4_t rows = vdupq_n_u32((uint32_t)params->rows);
  const uint32x4_t columns = vdupq_n_u32((uint32_t)params->columns);
  const uint32x4_t outside = vdupq_n_u32(UINT32_MAX);
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
      // Negative values are too large as unsigned values.
      const uint32x4_t r = vreinterpretq_u32_s32(vldrwq_z_s32(a, lanes));
      const uint32x4_t c = vreinterpretq_u32_s32(vldrwq_z_s32(b, lanes));
      const mve_pred16_t inside = vcmphiq_m_u32(columns, c, vcmphiq_u32(rows, r));
      const uint32x4_t place = vpselq_u32(vaddq_u32(vmulq_u32(r, columns), c), outside, inside);
      vstrwq_p_s32(y, vreinterpretq_s32_u32(place), lanes);
      a += 4 * a_step;
      b += 4 * b_step;
      y += 4;
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}
