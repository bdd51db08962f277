// SPDX-License-Identifier: Apache-2.0
#include "kernels/resize_bilinear/resize_bilinear.h"
#include "kernels/resize_bilinear/taps.h"

static inline int8_t divide(int32_t sum, int32_t divisor, int32_t half) {
  return (int8_t)((sum < 0 ? sum - half : sum + half) / divisor);
}

pl_status pl_resize_bilinear_s8(const pl_context *ctx, const pl_resize_bilinear_params *params,
                                const pl_resize_bilinear_dims *dims,
                                const pl_resize_bilinear_data *data) {
  (void)ctx;
  // Copies, which no store to the output can change.
  const pl_resize_bilinear_params p = *params;
  const pl_resize_bilinear_dims d = *dims;
  const int32_t channels = d.channels;
  const int32_t row_step = d.input_w * channels;
  const int32_t divisor = p.unit_h * p.unit_w;
  const int32_t half = divisor / 2;
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < d.batches; ++batch) {
    for (int32_t oy = 0; oy < d.output_h; ++oy) {
      const pl_taps y = pl_taps_at(oy * p.step_h + p.offset_h, p.unit_h, d.input_h, row_step);
      for (int32_t ox = 0; ox < d.output_w; ++ox) {
        const pl_taps x = pl_taps_at(ox * p.step_w + p.offset_w, p.unit_w, d.input_w, channels);
        const int8_t *x00 = image + y.first + x.first;
        const int8_t *x01 = image + y.first + x.second;
        const int8_t *x10 = image + y.second + x.first;
        const int8_t *x11 = image + y.second + x.second;
        const int32_t w00 = y.first_weight * x.first_weight;
        const int32_t w01 = y.first_weight * x.second_weight;
        const int32_t w10 = y.second_weight * x.first_weight;
        const int32_t w11 = y.second_weight * x.second_weight;
        for (int32_t c = 0; c < channels; ++c) {
          const int32_t sum = x00[c] * w00 + x01[c] * w01 + x10[c] * w10 + x11[c] * w11;
          *output++ = divide(sum, divisor, half);
        }
      }
    }
    image += d.input_h * row_step;
  }
  return PL_OK;
}
