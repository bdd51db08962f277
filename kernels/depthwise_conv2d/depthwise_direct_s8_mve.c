// SPDX-License-Identifier: Apache-2.0
// Sixteen channels of a pixel at a time, right from the input: no scratch.
//
// Products of 8 bits are 16 bits (VMULLB and VMULLT, of the even and the odd channels), two of them
// fit into 16 bits as weights are at least -127, and sums of two are widened to 32 bits. The sums
// are those of channels 0 4 8 12, 2 6 10 14, 1 5 9 13 and 3 7 11 15; constants are packed in that
// order, and narrowing turns it back.
#include <arm_mve.h>

#include "kernels/depthwise_conv2d/depthwise_conv2d.h"

#define LANES 16

// Keeps loads behind it: GCC would load everything first, and spill it.
#define IN_ORDER __asm__ volatile("" ::: "memory")

// The last stage; is_whole if there is nothing to clamp.
typedef struct {
  int16_t zero_point;
  int8_t minimum;
  int8_t maximum;
  int is_whole;
} stage;

typedef struct {
  int32x4_t a0, a1, a2, a3;
} sums;

PL_INLINE void widen(sums *s, int16x8_t even, int16x8_t odd) {
  s->a0 = vaddq_s32(s->a0, vmovlbq_s16(even));
  s->a1 = vaddq_s32(s->a1, vmovltq_s16(even));
  s->a2 = vaddq_s32(s->a2, vmovlbq_s16(odd));
  s->a3 = vaddq_s32(s->a3, vmovltq_s16(odd));
  IN_ORDER;
}

PL_INLINE sums begin(const int32_t *bias) {
  return (sums){vldrwq_s32(bias), vldrwq_s32(bias + 4), vldrwq_s32(bias + 8),
                vldrwq_s32(bias + 12)};
}

// requantize.h for shifts below 0.
PL_INLINE int32x4_t requantize(int32x4_t x, const int32_t *factors) {
  int32x4_t h = vqrdmulhq_s32(x, vldrwq_s32(factors));
  h = vaddq_s32(h, vshrq_n_s32(h, 31));
  h = vrshlq_s32(h, vldrwq_s32(factors + LANES));
  IN_ORDER;
  return h;
}

PL_INLINE int8x16_t narrow(const stage *to, sums s, const int32_t *factors) {
  const int16_t zero_point = to->zero_point;
  int16x8_t even = vqmovnbq_s32(vuninitializedq_s16(), requantize(s.a0, factors));
  even = vqmovntq_s32(even, requantize(s.a1, factors + 4));
  int16x8_t odd = vqmovnbq_s32(vuninitializedq_s16(), requantize(s.a2, factors + 8));
  odd = vqmovntq_s32(odd, requantize(s.a3, factors + 12));
  int8x16_t y = vqmovnbq_s16(vuninitializedq_s8(), vqaddq_n_s16(even, zero_point));
  y = vqmovntq_s16(y, vqaddq_n_s16(odd, zero_point));
  if (to->is_whole) return y;
  return vminq_s8(vmaxq_s8(y, vdupq_n_s8(to->minimum)), vdupq_n_s8(to->maximum));
}

static stage stage_of(const pl_depthwise_conv2d_params *params) {
  return (stage){
      .zero_point = (int16_t)params->output_zero_point,
      .minimum = (int8_t)params->activation_min,
      .maximum = (int8_t)params->activation_max,
      .is_whole = params->activation_max - params->activation_min == INT8_MAX - INT8_MIN,
  };
}

// Taps of a row that are `step` bytes apart, 0 in padding. Returns the weights behind theirs.
// Pairs have a count of their own: GCC 14.2 compared what is left of `count` before the loop, the
// end of which overwrites the flags.
PL_INLINE const int8_t *add_taps(sums *s, const int8_t *x, int32_t step, int32_t count,
                                 const int8_t *w, mve_pred16_t lanes) {
  for (int32_t pairs = count / 2; pairs > 0; --pairs) {
    const int8x16_t x0 = vldrbq_z_s8(x, lanes);
    const int8x16_t w0 = vldrbq_s8(w);
    const int8x16_t x1 = vldrbq_z_s8(x + step, lanes);
    const int8x16_t w1 = vldrbq_s8(w + LANES);
    widen(s, vaddq_s16(vmullbq_int_s8(x0, w0), vmullbq_int_s8(x1, w1)),
          vaddq_s16(vmulltq_int_s8(x0, w0), vmulltq_int_s8(x1, w1)));
    x += 2 * step;
    w += 2 * LANES;
  }
  if (count % 2 != 0) {
    const int8x16_t x0 = vldrbq_z_s8(x, lanes);
    const int8x16_t w0 = vldrbq_s8(w);
    widen(s, vmullbq_int_s8(x0, w0), vmulltq_int_s8(x0, w0));
    w += LANES;
  }
  return w;
}

// Taps of a row that are left of the image, and those that are inside.
typedef struct {
  int32_t before;
  int32_t inside;
} row_taps;

static row_taps taps_of(int32_t x, int32_t dilation, int32_t count, int32_t width) {
  row_taps taps = {0, 0};
  for (; taps.before < count && x < 0; x += dilation) ++taps.before;
  for (; taps.before + taps.inside < count && x < width; x += dilation) ++taps.inside;
  return taps;
}

// All channels of a pixel.
static void convolve_pixel(const pl_depthwise_conv2d_params *params,
                           const pl_depthwise_conv2d_dims *dims,
                           const pl_depthwise_conv2d_data *data, const stage *to,
                           const int8_t *padding, const int8_t *image, int32_t y0, int32_t x0,
                           int8_t *output) {
  const int32_t channels = dims->input_c;
  const int32_t row_bytes = dims->input_w * channels;
  const int32_t step = params->dilation_w * channels;
  const int32_t kernel_w = dims->kernel_w;
  const row_taps taps = taps_of(x0, params->dilation_w, kernel_w, dims->input_w);
  const int32_t after = kernel_w - taps.before - taps.inside;
  const int8_t *const first = image + x0 * channels + taps.before * step;
  const int8_t *w = data->weight;
  const int32_t *k = data->bias;
  for (int32_t channel = 0; channel < channels; channel += LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)(channels - channel));
    sums s = begin(k);
    int32_t y = y0;
    for (int32_t ky = dims->kernel_h; ky > 0; --ky, y += params->dilation_h) {
      if ((uint32_t)y >= (uint32_t)dims->input_h) {
        w = add_taps(&s, padding, 0, kernel_w, w, lanes);
        continue;
      }
      if (taps.before > 0) w = add_taps(&s, padding, 0, taps.before, w, lanes);
      w = add_taps(&s, first + y * row_bytes + channel, step, taps.inside, w, lanes);
      if (after > 0) w = add_taps(&s, padding, 0, after, w, lanes);
    }
    vstrbq_p_s8(output + channel, narrow(to, s, k + LANES), lanes);
    k += 3 * LANES;
  }
}

pl_status pl_depthwise_direct_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                 const pl_depthwise_conv2d_dims *dims,
                                 const pl_depthwise_conv2d_data *data) {
  (void)ctx;
  const stage to = stage_of(params);
  int8_t padding[LANES];
  vstrbq_s8(padding, vdupq_n_s8((int8_t)params->input_zero_point));
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        convolve_pixel(params, dims, data, &to, padding, image,
                       oy * params->stride_h - params->pad_top,
                       ox * params->stride_w - params->pad_left, output);
        output += dims->input_c;
      }
    }
    image += dims->input_h * dims->input_w * dims->input_c;
  }
  return PL_OK;
}
