// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions on planes. Four channels at a time are copied to scratch as four planes of
// 16 bits, a strip of rows at a time. A word then holds two neighbours in x.
#ifndef KERNELS_DEPTHWISE_CONV2D_PLANES_DSP_H_
#define KERNELS_DEPTHWISE_CONV2D_PLANES_DSP_H_

#include "kernels/common/clamp_s8.h"
#include "kernels/common/dsp.h"
#include "kernels/depthwise_conv2d/depthwise_conv2d.h"

#define PL_PLANES 4

// Rows of the planes of four channels.
typedef struct {
  const uint32_t *planes;
  int32_t row_words;
  int32_t plane_words;
  int32_t stride_h;
  int32_t rows;   // of the output
  int32_t first;  // index of the channels' constants
  int32_t count;  // number of channels, 4 unless the layer has fewer
  int32_t again;  // so many of them, the first, are among those before them
  int8_t *y;      // destination of the output rows
} pl_planes;

typedef void pl_convolve_planes(void *layer, const pl_planes *planes);

// Input rows of four channels -> rows of the four planes.
typedef struct {
  int32_t channels;
  int32_t repeats;    // output channels of each
  int32_t first;      // output channel of the four
  int32_t step;       // bytes from input to input
  int32_t input_row;  // bytes to the next row
  int32_t row_words;  // per plane row
  int32_t plane_words;
  int32_t left;   // 1 for a word of padding and the first input
  int32_t inner;  // words of two inputs
  int32_t fours;  // pairs of these
  int32_t right;  // 1 for a word of the last input and padding
} widening;

// The first two channels of two neighbours become a word of four bytes, and so do the last two.
// SXTB16 turns it into a word of each of their planes. GCC makes neither PKHBT nor PKHTB from C,
// but two instructions for each.
#define PAIR(A, B, LAST_TWO) \
  "pkhtb " LAST_TWO ", " B ", " A ", asr #16\n\tpkhbt " A ", " A ", " B ", lsl #16\n\t"

// Two neighbours of four channels, to a word of each plane.
static inline void put(int8x4_t a, int8x4_t b, uint32_t *to, int32_t plane_words) {
  int8x4_t last_two;
  __asm__(PAIR("%0", "%2", "%1") : "+r"(a), "=&r"(last_two) : "r"(b));
  to[0] = (uint32_t)pl_even_s16(a);
  to[plane_words] = (uint32_t)pl_odd_s16(a);
  to += 2 * plane_words;
  to[0] = (uint32_t)pl_even_s16(last_two);
  to[plane_words] = (uint32_t)pl_odd_s16(last_two);
}

// Copies groups of four neighbours to two words of each plane. Returns the next input address. A
// loop turn takes 24 instructions. GCC makes 40 from C: it uses separate rotations, and stores most
// words one by one.
static inline const int8_t *put_fours(const int8_t *x, int32_t step, int32_t fours, uint32_t *to,
                                      int32_t plane_words) {
  uint32_t *to1 = to + plane_words;
  uint32_t *to2 = to1 + plane_words;
  uint32_t *to3 = to2 + plane_words;
  for (const uint32_t *end = to + 2 * fours; to != end;) {
    uint32_t a, b, c, d, e, f;
    __asm__(
        "ldr %[a], [%[x]]\n\t"
        "ldr %[e], [%[x], %[step]]\n\t"
        "add %[x], %[x], %[step], lsl #1\n\t" PAIR("%[a]", "%[e]", "%[b]")
        "ldr %[c], [%[x]]\n\t"
        "ldr %[e], [%[x], %[step]]\n\t"
        "add %[x], %[x], %[step], lsl #1\n\t" PAIR("%[c]", "%[e]", "%[d]")
        "sxtb16 %[e], %[a]\n\t"
        "sxtb16 %[f], %[c]\n\t"
        "strd %[e], %[f], [%[to]], #8\n\t"
        "sxtb16 %[a], %[a], ror #8\n\t"
        "sxtb16 %[c], %[c], ror #8\n\t"
        "strd %[a], %[c], [%[to1]], #8\n\t"
        "sxtb16 %[a], %[b]\n\t"
        "sxtb16 %[c], %[d]\n\t"
        "strd %[a], %[c], [%[to2]], #8\n\t"
        "sxtb16 %[b], %[b], ror #8\n\t"
        "sxtb16 %[d], %[d], ror #8\n\t"
        "strd %[b], %[d], [%[to3]], #8\n\t"
        : [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), [e] "=&r"(e), [f] "=&r"(f), [x] "+r"(x),
          [to] "+r"(to), [to1] "+r"(to1), [to2] "+r"(to2), [to3] "+r"(to3)
        : [step] "r"(step)
        : "memory");
  }
  return x;
}

static __attribute__((noinline)) void widen_rows(const widening *w, const int8_t *x, int32_t rows,
                                                 int8x4_t padding, uint32_t *planes) {
  const int32_t step = w->step;
  const int32_t plane_words = w->plane_words;
  x += w->first;
  for (; rows > 0; --rows) {
    const int8_t *at = x;
    uint32_t *to = planes;
    if (w->left) {
      put(padding, pl_load_4(at), to++, plane_words);
      at += step;
    }
    if (w->fours) {
      at = put_fours(at, step, w->fours, to, plane_words);
      to += 2 * w->fours;
    }
    if ((w->inner & 1) != 0) {
      put(pl_load_4(at), pl_load_4(at + step), to++, plane_words);
      at += 2 * step;
    }
    if (w->right) put(pl_load_4(at), padding, to, plane_words);
    x += w->input_row;
    planes += w->row_words;
  }
}

// Rows of the input to rows of planes.
typedef void widen_function(const widening *w, const int8_t *x, int32_t rows, int8x4_t padding,
                            uint32_t *planes);

static inline void fill(uint32_t *planes, int32_t plane_words, uint32_t value) {
  for (; plane_words > 0; --plane_words) {
    for (int32_t i = 0; i < PL_PLANES; ++i) planes[i] = value;
    planes += PL_PLANES;
  }
}

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// Takes all channels through `widen` and `convolve`, constants where this is inlined, as `turned`
// is: then dims and params have heights in place of widths, of an image as it lies in memory.
//
// row_words: of a plane, those of all windows of a row; above: bytes of scratch before the planes.
PL_INLINE pl_status pl_depthwise_by_planes(const pl_context *ctx,
                                           const pl_depthwise_conv2d_params *params,
                                           const pl_depthwise_conv2d_dims *dims,
                                           const pl_depthwise_conv2d_data *data, int32_t row_words,
                                           int32_t above, int turned, void *layer,
                                           widen_function *widen, pl_convolve_planes *convolve) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t channels = dims->input_c * dims->repeats;
  const int32_t taps = (dims->kernel_h - 1) * params->dilation_h + 1;
  // Output rows that fit into scratch together.
  const int32_t room = (dims->scratch_bytes - above) / (PL_PLANES * 4 * row_words);
  const int32_t strip_rows = smaller((room - taps) / params->stride_h + 1, dims->output_h);
  uint32_t *const planes = (uint32_t *)ctx->scratch + above / 4;
  pl_planes strip = {
      .planes = planes,
      .row_words = row_words,
      .plane_words = ((strip_rows - 1) * params->stride_h + taps) * row_words,
      .stride_h = params->stride_h,
      .count = smaller(channels, PL_PLANES),
  };
  widening w = {
      .channels = dims->input_c,
      .repeats = dims->repeats,
      .step = (turned ? dims->input_h : 1) * dims->input_c,
      .input_row = (turned ? 1 : dims->input_w) * dims->input_c,
      .row_words = row_words,
      .plane_words = strip.plane_words,
      .left = params->pad_left & 1,
  };
  // Input columns used by at least one window.
  const int32_t columns = smaller(2 * row_words - params->pad_left, dims->input_w);
  w.inner = (columns - w.left) / 2;
  w.fours = w.inner / 2;
  w.right = (columns - w.left) & 1;
  const int32_t first_word = params->pad_left / 2;
  const int is_padded = first_word > 0 || w.left + w.inner + w.right < row_words;
  const int8x4_t padding = (int8x4_t)(0x01010101u * (uint8_t)params->input_zero_point);
  const uint32_t wide_padding = (uint32_t)pl_even_s16(padding);

  const int32_t output_row = (turned ? 1 : dims->output_w) * channels;

  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; oy += strip_rows) {
      strip.rows = smaller(dims->output_h - oy, strip_rows);
      const int32_t top = oy * params->stride_h - params->pad_top;
      const int32_t bottom = top + (strip.rows - 1) * params->stride_h + taps;
      const int32_t begin = top < 0 ? 0 : top;
      const int32_t end = smaller(bottom, dims->input_h);
      // Padding is at the same places in all planes.
      if (is_padded || begin != top || end != bottom) {
        fill(planes, strip.plane_words, wide_padding);
      }
      for (strip.first = 0; strip.first < channels; strip.first += PL_PLANES) {
        w.first = smaller(strip.first, channels - strip.count);
        strip.again = strip.first - w.first;
        if (columns > 0 && begin < end) {
          widen(&w, image + begin * w.input_row, end - begin, padding,
                planes + (begin - top) * row_words + first_word);
        }
        strip.y = output + oy * output_row + w.first;
        convolve(layer, &strip);
      }
    }
    image += dims->input_h * dims->input_w * dims->input_c;
    output += dims->output_h * dims->output_w * channels;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, dims->batches * dims->output_h * dims->output_w * channels,
                params->activation_min, params->activation_max);
  }
  return PL_OK;
}

#endif  // KERNELS_DEPTHWISE_CONV2D_PLANES_DSP_H_
