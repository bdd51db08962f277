// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/divide_mve.h"
#include "kernels/resize_bilinear/resize_bilinear.h"
#include "kernels/resize_bilinear/taps.h"

// Sums of products with weights of so much stay in 16 bits.
#define MOST_NARROW 256

// The neighbours of an output pixel, and their weights.
typedef struct {
  const int8_t *x00;
  const int8_t *x01;
  const int8_t *x10;
  const int8_t *x11;
  int32_t w00;
  int32_t w01;
  int32_t w10;
  int32_t w11;
} neighbours;

// Eight channels at a time, for weights with a sum of 2^-shift, 2 to MOST_NARROW. Ties round away
// from zero: negative sums are reduced by one first. This may saturate, but all values there have
// the same result.
PL_INLINE void mix_narrow(neighbours of, int32_t channels, int32_t shift, int8_t *output) {
  for (int32_t left = channels; left > 0; left -= 8) {
    const mve_pred16_t lanes = vctp16q((uint32_t)left);
    int16x8_t sum = vmulq_n_s16(vldrbq_z_s16(of.x00, lanes), (int16_t)of.w00);
    sum = vmlaq_n_s16(sum, vldrbq_z_s16(of.x01, lanes), (int16_t)of.w01);
    sum = vmlaq_n_s16(sum, vldrbq_z_s16(of.x10, lanes), (int16_t)of.w10);
    sum = vmlaq_n_s16(sum, vldrbq_z_s16(of.x11, lanes), (int16_t)of.w11);
    sum = vqaddq_s16(sum, vshrq_n_s16(sum, 15));
    vstrbq_p_s16(output, vrshlq_n_s16(sum, shift), lanes);
    of.x00 += 8;
    of.x01 += 8;
    of.x10 += 8;
    of.x11 += 8;
    output += 8;
  }
}

PL_INLINE void mix(neighbours of, int32_t channels, pl_divisor_mve divisor, int8_t *output) {
  for (int32_t left = channels; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    int32x4_t sum = vmulq_n_s32(vldrbq_z_s32(of.x00, lanes), of.w00);
    sum = vmlaq_n_s32(sum, vldrbq_z_s32(of.x01, lanes), of.w01);
    sum = vmlaq_n_s32(sum, vldrbq_z_s32(of.x10, lanes), of.w10);
    sum = vmlaq_n_s32(sum, vldrbq_z_s32(of.x11, lanes), of.w11);
    vstrbq_p_s32(output, pl_divide_rounding_mve(sum, divisor), lanes);
    of.x00 += 4;
    of.x01 += 4;
    of.x10 += 4;
    of.x11 += 4;
    output += 4;
  }
}

pl_status pl_resize_bilinear_s8(const pl_context *ctx, const pl_resize_bilinear_params *params,
                                const pl_resize_bilinear_dims *dims,
                                const pl_resize_bilinear_data *data) {
  (void)ctx;
  const int32_t channels = dims->channels;
  const int32_t row_step = dims->input_w * channels;
  const int32_t weights = params->unit_h * params->unit_w;
  const pl_divisor_mve divisor = pl_divisor_of((uint32_t)weights);
  const int is_narrow = weights > 1 && weights <= MOST_NARROW && (weights & (weights - 1)) == 0;
  const int32_t shift = __builtin_clz((uint32_t)weights) - 31;
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_taps y = pl_taps_at(oy * params->step_h + params->offset_h, params->unit_h,
                                   dims->input_h, row_step);
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const pl_taps x = pl_taps_at(ox * params->step_w + params->offset_w, params->unit_w,
                                     dims->input_w, channels);
        const int8_t *top = image + y.first;
        const int8_t *bottom = image + y.second;
        const neighbours of = {
            .x00 = top + x.first,
            .x01 = top + x.second,
            .x10 = bottom + x.first,
            .x11 = bottom + x.second,
            .w00 = y.first_weight * x.first_weight,
            .w01 = y.first_weight * x.second_weight,
            .w10 = y.second_weight * x.first_weight,
            .w11 = y.second_weight * x.second_weight,
        };
        if (is_narrow) {
          mix_narrow(of, channels, shift, output);
        } else {
          mix(of, channels, divisor, output);
        }
        output += channels;
      }
    }
    image += dims->input_h * row_step;
  }
  return PL_OK;
}
