// SPDX-License-Identifier: Apache-2.0
// Vectors cross the ends of short rows. Each lane has an element index (place), and its row is
// place / size. A gather load reads its element of b.
#include "kernels/mul/mul_mve.h"

typedef struct {
  pl_mul_params params;
  uint16_t reciprocal;
  uint16_t step;  // of b from one element to the next
  uint16_t turn;  // in addition, from a row to the next
} pl_mul_short;

// place * ceil(2^16 / size) / 2^16 is place / size for places up to 2^16 / size.
PL_INLINE uint16x8_t b_of(const pl_mul_short *of, uint16x8_t place) {
  const uint16x8_t row = vmulhq_u16(place, vdupq_n_u16(of->reciprocal));
  return vmlaq_n_u16(vmulq_n_u16(place, of->step), row, of->turn);
}

PL_INLINE void multiply_rows(const pl_mul_short *of, const int8_t *a, const int8_t *b, int32_t size,
                             int8_t *output) {
  uint16x8_t place = vidupq_n_u16(0, 1);
  for (int32_t blocks = size / PL_MUL_LANES; blocks > 0; --blocks) {
    const int16x8_t y = vldrbq_gather_offset_s16(b, b_of(of, place));
    vstrbq_s16(output, pl_mul_8(&of->params, vldrbq_s16(a), y));
    place = vaddq_n_u16(place, PL_MUL_LANES);
    a += PL_MUL_LANES;
    output += PL_MUL_LANES;
  }
  if (size % PL_MUL_LANES != 0) {
    const mve_pred16_t lanes = vctp16q((uint32_t)(size % PL_MUL_LANES));
    const int16x8_t y = vldrbq_gather_offset_z_s16(b, b_of(of, place), lanes);
    vstrbq_p_s16(output, pl_mul_8(&of->params, vldrbq_z_s16(a, lanes), y), lanes);
  }
}

pl_status pl_mul_short_s8(const pl_context *ctx, const pl_mul_params *params,
                          const pl_mul_dims *dims, const pl_mul_data *data) {
  (void)ctx;
  const int32_t inner = PL_BROADCAST_DIMS - 1;
  const int32_t size = dims->size[inner];
  const int32_t stride = dims->b_stride[inner - 1];
  const pl_mul_short of = {
      .params = *params,
      .reciprocal = (uint16_t)((UINT16_MAX + size) / size),
      .step = (uint16_t)dims->b_stride[inner],
      .turn = (uint16_t)(stride - size * dims->b_stride[inner]),
  };
  const int32_t most = UINT16_MAX / (size * size);
  const int8_t *a = data->a;
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *b = data->b + row.b;
    for (int32_t rows = dims->size[inner - 1]; rows > 0; rows -= most) {
      const int32_t values = (rows < most ? rows : most) * size;
      multiply_rows(&of, a, b, values, output);
      a += values;
      b += most * stride;
      output += values;
    }
  } while (pl_broadcast_next_rows(dims, &row));
  pl_mul_clamp(params, (int32_t)(output - data->output), data->output);
  return PL_OK;
}
