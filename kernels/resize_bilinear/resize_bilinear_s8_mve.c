// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/divide_mve.h"
#include "kernels/resize_bilinear/resize_bilinear.h"
#include "kernels/resize_bilinear/taps.h"

pl_status pl_resize_bilinear_s8(const pl_context *ctx, const pl_resize_bilinear_params *params,
                                const pl_resize_bilinear_dims *dims,
                                const pl_resize_bilinear_data *data) {
  (void)ctx;
  const int32_t channels = dims->channels;
  const int32_t row_step = dims->input_w * channels;
  const pl_divisor_mve divisor = pl_divisor_of((uint32_t)(params->unit_h * params->unit_w));
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_taps y = pl_taps_at(oy * params->step_h + params->offset_h, params->unit_h,
                                   dims->input_h, row_step);
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const pl_taps x = pl_taps_at(ox * params->step_w + params->offset_w, params->unit_w,
                                     dims->input_w, channels);
        const int8_t *x00 = image + y.first + x.first;
        const int8_t *x01 = image + y.first + x.second;
        const int8_t *x10 = image + y.second + x.first;
        const int8_t *x11 = image + y.second + x.second;
        const int32_t w00 = y.first_weight * x.first_weight;
        const int32_t w01 = y.first_weight * x.second_weight;
        const int32_t w10 = y.second_weight * x.first_weight;
        const int32_t w11 = y.second_weight * x.second_weight;
        int8_t *pixel = output;
        for (int32_t left = channels; left > 0; left -= 4) {
          const mve_pred16_t lanes = vctp32q((uint32_t)left);
          int32x4_t sum = vmulq_n_s32(vldrbq_z_s32(x00, lanes), w00);
          sum = vmlaq_n_s32(sum, vldrbq_z_s32(x01, lanes), w01);
          sum = vmlaq_n_s32(sum, vldrbq_z_s32(x10, lanes), w10);
          sum = vmlaq_n_s32(sum, vldrbq_z_s32(x11, lanes), w11);
          vstrbq_p_s32(pixel, pl_divide_rounding_mve(sum, divisor), lanes);
          x00 += 4;
          x01 += 4;
          x10 += 4;
          x11 += 4;
          pixel += 4;
        }
        output += channels;
      }
    }
    image += dims->input_h * row_step;
  }
  return PL_OK;
}
