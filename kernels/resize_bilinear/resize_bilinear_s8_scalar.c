// SPDX-License-Identifier: Apache-2.0
#include "kernels/resize_bilinear/resize_bilinear.h"
#include "kernels/resize_bilinear/taps.h"

// Common data of a row's pixels.
typedef struct {
  const int8_t *above;
  int32_t below;  // from there to the row below
  int32_t above_weight;
  int32_t below_weight;
  int32_t place;  // position of the first pixel
  int32_t step;
  int32_t unit;
  int32_t input_w;
  int32_t output_w;
  int32_t channels;
  int32_t divisor;
  int32_t half;
} row;

static inline int8_t divide(int32_t sum, const row *r) {
  return (int8_t)((sum < 0 ? sum - r->half : sum + r->half) / r->divisor);
}

// Both rows first. With one channel, products of two weights have no further use.
static void interpolate_1(row r, int8_t *output) {
  for (const int8_t *end = output + r.output_w; output != end; r.place += r.step) {
    const pl_taps x = pl_taps_at(r.place, r.unit, r.input_w, 1);
    const int8_t *first = r.above + x.first;
    const int8_t *second = r.above + x.second;
    const int32_t above = *first * x.first_weight + *second * x.second_weight;
    const int32_t below = first[r.below] * x.first_weight + second[r.below] * x.second_weight;
    *output++ = divide(above * r.above_weight + below * r.below_weight, &r);
  }
}

static void interpolate(row r, int8_t *output) {
  for (int32_t left = r.output_w; left > 0; --left, r.place += r.step) {
    const pl_taps x = pl_taps_at(r.place, r.unit, r.input_w, r.channels);
    const int8_t *first = r.above + x.first;
    const int8_t *second = r.above + x.second;
    const int32_t w00 = r.above_weight * x.first_weight;
    const int32_t w01 = r.above_weight * x.second_weight;
    const int32_t w10 = r.below_weight * x.first_weight;
    const int32_t w11 = r.below_weight * x.second_weight;
    for (const int8_t *end = output + r.channels; output != end; ++first, ++second) {
      const int32_t sum =
          *first * w00 + *second * w01 + first[r.below] * w10 + second[r.below] * w11;
      *output++ = divide(sum, &r);
    }
  }
}

pl_status pl_resize_bilinear_s8(const pl_context *ctx, const pl_resize_bilinear_params *params,
                                const pl_resize_bilinear_dims *dims,
                                const pl_resize_bilinear_data *data) {
  (void)ctx;
  const int32_t row_step = dims->input_w * dims->channels;
  const int32_t divisor = params->unit_h * params->unit_w;
  row r = {
      .place = params->offset_w,
      .step = params->step_w,
      .unit = params->unit_w,
      .input_w = dims->input_w,
      .output_w = dims->output_w,
      .channels = dims->channels,
      .divisor = divisor,
      .half = divisor / 2,
  };
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch, image += dims->input_h * row_step) {
    int32_t place = params->offset_h;
    for (int32_t oy = 0; oy < dims->output_h; ++oy, place += params->step_h) {
      const pl_taps y = pl_taps_at(place, params->unit_h, dims->input_h, row_step);
      r.above = image + y.first;
      r.below = y.second - y.first;
      r.above_weight = y.first_weight;
      r.below_weight = y.second_weight;
      if (r.channels == 1) {
        interpolate_1(r, output);
      } else {
        interpolate(r, output);
      }
      output += r.output_w * r.channels;
    }
  }
  return PL_OK;
}
