// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/optimized.h"

#include "kernels/depthwise_conv2d/planes_dsp.h"

// Windows of any size, four outputs of a row at a time. A row of taps is packed in words of two
// taps, like the inputs. At stride 1 every other output begins in the middle of a word, and has
// words of its own: (w0, w1), (w2, 0) and (0, w0), (w1, w2).
#define OUTPUTS 4

typedef struct {
  const pl_depthwise_conv2d_params *params;
  const pl_depthwise_conv2d_dims *dims;
  const int8_t *weight;      // for four channels: [kernel_h][kernel_w][4]
  const int32_t *constants;  // bias of four channels, multiplier and right of each
  int32_t *taps;             // words of a channel, in scratch
  int32_t words;             // per row of taps, for outputs at the start of a word
  int32_t step;              // bytes from output to output
  int32_t row;               // step to the next row of outputs
} layer_of_windows;

static inline int32_t words_of_taps(int32_t kernel_w, int32_t stride_w) {
  return stride_w == 1 ? kernel_w / 2 + 1 : (kernel_w + 1) / 2;
}

static void widen_taps(const layer_of_windows *layer, const int8_t *w) {
  int32_t *to = layer->taps;
  for (int32_t ky = layer->dims->kernel_h; ky > 0; --ky) {
    int16_t before = 0;
    int32_t left = layer->dims->kernel_w;
    for (int32_t i = layer->words; i > 0; --i) {
      const int16_t first = left > 0 ? w[0] : 0;
      const int16_t second = left > 1 ? w[PL_PLANES] : 0;
      *to++ = (int32_t)pl_two_s16(first, second);
      if (layer->params->stride_w == 1) *to++ = (int32_t)pl_two_s16(before, first);
      before = second;
      left -= 2;
      w += 2 * PL_PLANES;
    }
    w += left * PL_PLANES;
  }
}

PL_INLINE int32_t mac(int32_t x, int32_t w, int32_t sum) {
  return __smlad((int16x2_t)x, (int16x2_t)w, sum);
}

// Two consecutive words; then p moves on by `step` bytes. (GCC would load them one by one.)
#define LOAD_2(A, B, P, STEP) \
  __asm__ volatile("ldrd %0, %1, [%2], " STEP : "=&r"(A), "=&r"(B), "+r"(P) : : "memory")

typedef struct {
  int32_t of0, of1, of2, of3;
} four_sums;

PL_INLINE four_sums four_outputs(const layer_of_windows *layer, int32_t stride_w, const uint32_t *x,
                                 int32_t row_step, int32_t bias) {
  const int32_t *w = layer->taps;
  int32_t sum0 = bias;
  int32_t sum1 = bias;
  int32_t sum2 = bias;
  int32_t sum3 = bias;
  for (int32_t ky = layer->dims->kernel_h; ky > 0; --ky) {
    const uint32_t *at = x;
    for (const uint32_t *end = at + layer->words; at != end;) {
      int32_t first, second, even, odd;
      if (stride_w == 1) {
        LOAD_2(first, second, at, "#4");
        LOAD_2(even, odd, w, "#8");
        sum0 = mac(first, even, sum0);
        sum1 = mac(first, odd, sum1);
        sum2 = mac(second, even, sum2);
        sum3 = mac(second, odd, sum3);
      } else {
        const int32_t taps = *w++;
        int32_t third, fourth;
        LOAD_2(first, second, at, "#8");
        LOAD_2(third, fourth, at, "#-4");
        sum0 = mac(first, taps, sum0);
        sum1 = mac(second, taps, sum1);
        sum2 = mac(third, taps, sum2);
        sum3 = mac(fourth, taps, sum3);
      }
    }
    x += row_step;
  }
  return (four_sums){sum0, sum1, sum2, sum3};
}

typedef struct {
  int32_t multiplier;
  int32_t right;
  int32_t twice_zero_point_and_1;
} output_factors;

PL_INLINE int8_t narrow(int32_t sum, output_factors of) {
  return pl_narrow_dsp((int32_t)((uint32_t)sum << 1), of.multiplier, of.right,
                       of.twice_zero_point_and_1);
}

static __attribute__((noinline)) void convolve_channel(const layer_of_windows *layer,
                                                       const pl_planes *p, const uint32_t *plane,
                                                       int32_t bias, const int32_t *factors,
                                                       int8_t *y) {
  const output_factors of = {factors[0], factors[1], 2 * layer->params->output_zero_point + 1};
  const int32_t row_step = layer->params->dilation_h * p->row_words;
  const int32_t step = layer->step;
  for (int32_t row = p->rows; row > 0; --row) {
    const uint32_t *x = plane;
    int8_t *to = y;
    for (int32_t left = layer->dims->output_w; left > 0; left -= OUTPUTS) {
      four_sums sums;
      if (layer->params->stride_w == 1) {
        sums = four_outputs(layer, 1, x, row_step, bias);
        x += OUTPUTS / 2;
      } else {
        sums = four_outputs(layer, 2, x, row_step, bias);
        x += OUTPUTS;
      }
      to[0] = narrow(sums.of0, of);
      if (left > 1) to[step] = narrow(sums.of1, of);
      if (left > 2) to[2 * step] = narrow(sums.of2, of);
      if (left > 3) to[3 * step] = narrow(sums.of3, of);
      to += OUTPUTS * step;
    }
    y += layer->row;
    plane += p->stride_h * p->row_words;
  }
}

static void convolve(void *of, const pl_planes *p) {
  const layer_of_windows *layer = of;
  const int8_t *w = layer->weight + p->first * layer->dims->kernel_h * layer->dims->kernel_w;
  const int32_t *constants = layer->constants + 3 * p->first;
  for (int32_t i = p->again; i < p->count; ++i) {
    widen_taps(layer, w + i);
    convolve_channel(layer, p, p->planes + i * p->plane_words, constants[i],
                     constants + PL_PLANES + 2 * i, p->y + i);
  }
}

// Offsets of the input channels of four output channels. Planes without a channel have undefined
// contents.
typedef struct {
  int32_t at1, at2, at3;
} places;

static inline int8x4_t load_few(const int8_t *x, places of) {
  return (int8x4_t)((uint32_t)(uint8_t)x[0] | (uint32_t)(uint8_t)x[of.at1] << 8 |
                    (uint32_t)(uint8_t)x[of.at2] << 16 | (uint32_t)(uint8_t)x[of.at3] << 24);
}

static void widen_few_rows(const widening *w, const int8_t *x, int32_t rows, int8x4_t padding,
                           uint32_t *planes) {
  const int32_t step = w->step;
  const int32_t first = w->first / w->repeats;
  const int32_t last = w->channels - 1 - first;
  const int32_t repeat = w->first - first * w->repeats;
  const places of = {smaller((repeat + 1) / w->repeats, last),
                     smaller((repeat + 2) / w->repeats, last),
                     smaller((repeat + 3) / w->repeats, last)};
  x += first;
  for (; rows > 0; --rows) {
    const int8_t *at = x;
    uint32_t *to = planes;
    if (w->left) {
      put(padding, load_few(at, of), to++, w->plane_words);
      at += step;
    }
    for (int32_t left = w->inner; left > 0; --left) {
      put(load_few(at, of), load_few(at + step, of), to++, w->plane_words);
      at += 2 * step;
    }
    if (w->right) put(load_few(at, of), padding, to, w->plane_words);
    x += w->input_row;
    planes += w->row_words;
  }
}

PL_INLINE pl_status run(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                        const pl_depthwise_conv2d_dims *dims, const pl_depthwise_conv2d_data *data,
                        int turned, widen_function *widen) {
  const int32_t channels = dims->input_c * dims->repeats;
  const int32_t words = words_of_taps(dims->kernel_w, params->stride_w);
  const int32_t outputs = (dims->output_w + OUTPUTS - 1) / OUTPUTS * OUTPUTS;
  layer_of_windows layer = {
      .params = params,
      .dims = dims,
      .weight = data->weight,
      .constants = data->bias,
      .taps = ctx->scratch,
      .words = words,
      .step = (turned ? dims->output_h : 1) * channels,
      .row = (turned ? 1 : dims->output_w) * channels,
  };
  const int32_t row_words = outputs / (params->stride_w == 1 ? 2 : 1) + words - 1;
  const int32_t tap_bytes = (params->stride_w == 1 ? 8 : 4) * words * dims->kernel_h;
  return pl_depthwise_by_planes(ctx, params, dims, data, row_words, tap_bytes, turned, &layer,
                                widen, convolve);
}

pl_status pl_depthwise_windows_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                  const pl_depthwise_conv2d_dims *dims,
                                  const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, 0, widen_rows);
}

pl_status pl_depthwise_turned_windows_s8(const pl_context *ctx,
                                         const pl_depthwise_conv2d_params *params,
                                         const pl_depthwise_conv2d_dims *dims,
                                         const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, 1, widen_rows);
}

pl_status pl_depthwise_few_windows_s8(const pl_context *ctx,
                                      const pl_depthwise_conv2d_params *params,
                                      const pl_depthwise_conv2d_dims *dims,
                                      const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, 0, widen_few_rows);
}
