// SPDX-License-Identifier: Apache-2.0
// Vectors cross the ends of short rows. Each lane has an element index (place), and its row is
// place / size. A gather load reads its element of b.
#include "kernels/add/add_mve.h"

typedef struct {
  uint32_t reciprocal;
  uint32_t step;  // of b from one element to the next
  uint32_t turn;  // in addition, from a row to the next
} pl_add_short;

// place * ceil(2^32 / size) / 2^32 is place / size for places below 2^32 / size. That is 186
// million for rows of 23.
PL_INLINE uint32x4_t b_of(const pl_add_short *of, uint32x4_t place) {
  const uint32x4_t row = vmulhq_u32(place, vdupq_n_u32(of->reciprocal));
  return vmlaq_n_u32(vmulq_n_u32(place, of->step), row, of->turn);
}

// The is_linear flags are constants after inlining.
PL_INLINE void add_gathered(const pl_add_short *of, pl_add_scale a, pl_add_scale b, pl_add_stage to,
                            const int8_t *x, const int8_t *y, int32_t size, int8_t *output,
                            int a_is_linear, int b_is_linear) {
  uint32x4_t place = vidupq_n_u32(0, 1);
  while (size > 0) {
    const mve_pred16_t lanes = vctp32q((uint32_t)size);
    const int32x4_t gathered = vldrbq_gather_offset_z_s32(y, b_of(of, place), lanes);
    const int32x4_t scaled_y = pl_add_scaled(gathered, &b, b_is_linear);
    const int32x4_t scaled_x = pl_add_scaled(vldrbq_z_s32(x, lanes), &a, a_is_linear);
    const int32x4_t sum =
        pl_requantize_down_mve(vaddq_s32(scaled_x, scaled_y), to.multiplier, to.right);
    const int32x4_t least = vmaxq_s32(vqaddq_n_s32(sum, to.zero_point), to.minimum);
    vstrbq_p_s32(output, vminq_s32(least, to.maximum), lanes);
    place = vaddq_n_u32(place, 4);
    x += 4;
    output += 4;
    size -= 4;
  }
}

pl_status pl_add_short_s8(const pl_context *ctx, const pl_add_params *params,
                          const pl_add_dims *dims, const pl_add_data *data) {
  (void)ctx;
  const int32_t inner = PL_BROADCAST_DIMS - 1;
  const int32_t size = dims->size[inner];
  const int32_t b_step = dims->b_stride[inner];
  const pl_add_short of = {
      .reciprocal = UINT32_MAX / (uint32_t)size + 1,
      .step = (uint32_t)b_step,
      .turn = (uint32_t)(dims->b_stride[inner - 1] - size * b_step),
  };
  const pl_add_scale a = pl_add_scale_of(&params->a, params->left_shift);
  const pl_add_scale b = pl_add_scale_of(&params->b, params->left_shift);
  const pl_add_stage to = pl_add_stage_of(params);
  const int32_t count = size * dims->size[inner - 1];
  const int8_t *x = data->a;
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *y = data->b + row.b;
    if (a.right == 0 && b.right == 0) {
      add_gathered(&of, a, b, to, x, y, count, output, 1, 1);
    } else if (a.right == 0) {
      add_gathered(&of, a, b, to, x, y, count, output, 1, 0);
    } else if (b.right == 0) {
      add_gathered(&of, a, b, to, x, y, count, output, 0, 1);
    } else {
      add_gathered(&of, a, b, to, x, y, count, output, 0, 0);
    }
    x += count;
    output += count;
  } while (pl_broadcast_next_rows(dims, &row));
  return PL_OK;
}
