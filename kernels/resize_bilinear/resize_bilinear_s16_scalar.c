// SPDX-License-Identifier: Apache-2.0
#include "kernels/resize_bilinear/resize_bilinear_s16.h"
#include "kernels/resize_bilinear/taps.h"

// Rounded to nearest, ties away from zero.
static inline int16_t divide(int64_t sum, int32_t divisor) {
  const int64_t nearest = sum < 0 ? sum - divisor / 2 : sum + divisor / 2;
  // Few cores divide 64 bits fast.
  return (int16_t)(divisor <= UINT16_MAX ? (int32_t)nearest / divisor : nearest / divisor);
}

pl_status pl_resize_bilinear_s16(const pl_context *ctx, const pl_resize_bilinear_s16_params *params,
                                 const pl_resize_bilinear_s16_dims *dims,
                                 const pl_resize_bilinear_s16_data *data) {
  (void)ctx;
  const int32_t channels = dims->channels;
  const int32_t row_step = dims->input_w * channels;
  const int32_t divisor = params->unit_h * params->unit_w;
  const int16_t *image = data->input;
  int16_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_taps y = pl_taps_at(oy * params->step_h + params->offset_h, params->unit_h,
                                   dims->input_h, row_step);
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const pl_taps x = pl_taps_at(ox * params->step_w + params->offset_w, params->unit_w,
                                     dims->input_w, channels);
        const int16_t *x00 = image + y.first + x.first;
        const int16_t *x01 = image + y.first + x.second;
        const int16_t *x10 = image + y.second + x.first;
        const int16_t *x11 = image + y.second + x.second;
        const int32_t w00 = y.first_weight * x.first_weight;
        const int32_t w01 = y.first_weight * x.second_weight;
        const int32_t w10 = y.second_weight * x.first_weight;
        const int32_t w11 = y.second_weight * x.second_weight;
        for (int32_t c = 0; c < channels; ++c) {
          const int64_t sum = (int64_t)x00[c] * w00 + (int64_t)x01[c] * w01 +
                              (int64_t)x10[c] * w10 + (int64_t)x11[c] * w11;
          *output++ = divide(sum, divisor);
        }
      }
    }
    image += dims->input_h * row_step;
  }
  return PL_OK;
}
