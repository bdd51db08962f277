// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s8.h"
#include "kernels/common/dsp.h"
#include "kernels/depthwise_conv2d/depthwise_conv2d.h"

// Four channels at a time are copied to scratch as four planes of 16 bits, a strip of rows at a
// time, so that a word holds two neighbours in x. With words a = (x0, x1) and b = (x2, x3) a row of
// taps w0, w1, w2 of two outputs is four multiplications, SMLAD(a, w0 w1) + SMLABT(b, w1 w2) and
// SMLAD(b, w1 w2) + SMLATB(a, w0 w1), and the six words of weights stay in registers.
#define PLANES 4
#define TAPS 3

// What all channels of a strip have in common.
typedef struct {
  int32_t step;       // from output to output: channels
  int32_t rows;       // of the output
  int32_t skip;       // bytes from behind a row of windows to the next
  int32_t odd;        // whether a row has an output more than the pairs
  int32_t end_step;   // bytes from a row of windows to the next
  int32_t row_bytes;  // of a plane
  int32_t walked;     // bytes of a plane's row that the pairs walk over
  int32_t twice_zero_point_and_1;
} strip_shape;

// Arguments r0: constants of the channel, r1: plane, r2: output, r3: strip_shape. Then
// r2, r3, r12: three rows of the plane, r4 to r9: weights (w0 w1, w1 w2 of each row) times two, as
// the sum is to be doubled, lr: output, r10, r11: sums; on the stack 0: multiplier, 4: offset, 8:
// right, 12: step, 16: twice the bias, 20: end of the row, 24: rows, 28: skip, 32: odd, 36:
// end_step.
#define WEIGHTS(W, FROM, TO0, TO1)                    \
  "sxtb16 " TO0 ", " FROM "\n\tsxtb16 " TO1 ", " FROM \
  ", ror #8\n\t"                                      \
  "sadd16 " TO0 ", " TO0 ", " TO0 "\n\tsadd16 " TO1 ", " TO1 ", " TO1 "\n\t"
#define BEGIN                                                                                     \
  "push {r4-r11, lr}\n\tsub sp, sp, #44\n\tmov lr, r2\n\t"                                        \
  "ldm r3, {r4-r11}\n\tstr r4, [sp, #12]\n\tstrd r5, r6, [sp, #24]\n\tstrd r7, r8, [sp, #32]\n\t" \
  "mov r2, r1\n\tadd r3, r1, r9\n\tadd r12, r3, r9\n\tadd r10, r1, r10\n\tstr r10, [sp, #20]\n\t" \
  "ldrd r4, r5, [r0, #12]\n\tldr r6, [r0, #20]\n\tlsl r4, r4, #1\n\tlsl r11, r11, r6\n\t"         \
  "strd r5, r11, [sp]\n\tstr r6, [sp, #8]\n\tstr r4, [sp, #16]\n\t"                               \
  "ldr r8, [r0]\n\tldrd r0, r1, [r0, #4]\n\t" WEIGHTS(0, "r8", "r4", "r5")                        \
      WEIGHTS(1, "r0", "r6", "r7") WEIGHTS(2, "r1", "r8", "r9")
#define NEXT_ROW                                                                  \
  "ldrd r0, r1, [sp, #24]\n\tsubs r0, r0, #1\n\tbeq 5f\n\tstr r0, [sp, #24]\n\t"  \
  "add r2, r2, r1\n\tadd r3, r3, r1\n\tadd r12, r12, r1\n\tldr r0, [sp, #20]\n\t" \
  "ldr r1, [sp, #36]\n\tadd r0, r0, r1\n\tstr r0, [sp, #20]\n\tb 1b\n\t"          \
  "5:\n\tadd sp, sp, #44\n\tpop {r4-r11, pc}\n\t"
#define TAPS_2(P, W, V, SUM)                               \
  "ldrd r0, r1, [" P "], #4\n\tsmlad r11, r1, " V ", " SUM \
  "\n\t"                                                   \
  "smlad r10, r0, " W ", r10\n\tsmlatb r11, r0, " W ", r11\n\tsmlabt r10, r1, " V ", r10\n\t"
#define TAPS_2_STRIDE_2(P, W, V, SUM)                                  \
  "ldrd r0, r1, [" P "], #8\n\tsmlad r11, r1, " W ", " SUM             \
  "\n\t"                                                               \
  "smlad r10, r0, " W ", r10\n\tldr r0, [" P "]\n\tsmlabt r10, r1, " V \
  ", r10\n\t"                                                          \
  "smlabt r11, r0, " V ", r11\n\t"
#define TAPS_1(P, W, V) \
  "ldrd r0, r1, [" P "], #4\n\tsmlad r10, r0, " W ", r10\n\tsmlabt r10, r1, " V ", r10\n\t"
// pl_narrow_dsp; the first where the zero point is -128.
#define HIGH_LOWEST(X) "smmlar " X ", " X ", r0, r1\n\t"
#define HIGH(X) \
  "smmulr " X ", " X ", r0\n\tadd " X ", " X ", " X ", asr #31\n\tadd " X ", " X ", r1\n\t"
#define NARROW(X) "asr " X ", " X ", r0\n\tssat " X ", #8, " X ", asr #1\n\t"
#define OUTPUT_2(ROW, HIGH)                                                          \
  "ldr r10, [sp, #16]\n\t" ROW("r2", "r4", "r5", "r10") ROW("r3", "r6", "r7", "r11") \
      ROW("r12", "r8", "r9", "r11") "ldrd r0, r1, [sp]\n\t" HIGH("r10")              \
          HIGH("r11") "ldrd r0, r1, [sp, #8]\n\t" NARROW("r10")                      \
              NARROW("r11") "strb r10, [lr]\n\tstrb r11, [lr, r1]\n\tadd lr, lr, r1, lsl #1\n\t"
#define OUTPUT_1(HIGH)                                                       \
  "ldr r10, [sp, #16]\n\t" TAPS_1("r2", "r4", "r5") TAPS_1("r3", "r6", "r7") \
      TAPS_1("r12", "r8", "r9") "ldrd r0, r1, [sp]\n\t" HIGH(                \
          "r10") "ldrd r0, r1, [sp, #8]\n\t" NARROW("r10") "strb r10, [lr]\n\tadd lr, lr, r1\n\t"

#define CHANNEL(NAME, ROW, HIGH)                                                                 \
  static __attribute__((naked, noinline)) void NAME(                                             \
      __attribute__((unused)) const int32_t *constants,                                          \
      __attribute__((unused)) const uint32_t *plane, __attribute__((unused)) int8_t *y,          \
      __attribute__((unused)) const strip_shape *shape) {                                        \
    __asm__ volatile(BEGIN "1:\n\t2:\n\t" OUTPUT_2(                                              \
        ROW,                                                                                     \
        HIGH) "ldr r0, [sp, #20]\n\tcmp r2, r0\n\tbne 2b\n\t"                                    \
              "ldr r0, [sp, #32]\n\tcmp r0, #0\n\tbeq 4f\n\t" OUTPUT_1(HIGH) "4:\n\t" NEXT_ROW); \
  }
CHANNEL(channel_lowest, TAPS_2, HIGH_LOWEST)
CHANNEL(channel, TAPS_2, HIGH)
CHANNEL(channel_stride_2_lowest, TAPS_2_STRIDE_2, HIGH_LOWEST)
CHANNEL(channel_stride_2, TAPS_2_STRIDE_2, HIGH)

// Input rows of four channels -> rows of the four planes.
typedef struct {
  int32_t channels;
  int32_t input_row;  // bytes
  int32_t row_words;  // of a plane
  int32_t plane_words;
  int32_t left;   // 1 for a word of padding and the first input
  int32_t inner;  // words of two inputs
  int32_t right;  // 1 for a word of the last input and padding
} widening;

static inline uint32_t pack_low(int16x2_t a, int16x2_t b) {
  uint32_t packed;
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(packed) : "r"(a), "r"(b));
  return packed;
}

static inline uint32_t pack_high(int16x2_t a, int16x2_t b) {
  uint32_t packed;
  __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(packed) : "r"(b), "r"(a));
  return packed;
}

// Two neighbours of four channels, to a word of each plane.
static inline void put(int8x4_t a, int8x4_t b, uint32_t *to, int32_t plane_words) {
  const int16x2_t a02 = pl_even_s16(a);
  const int16x2_t a13 = pl_odd_s16(a);
  const int16x2_t b02 = pl_even_s16(b);
  const int16x2_t b13 = pl_odd_s16(b);
  to[0] = pack_low(a02, b02);
  to[plane_words] = pack_low(a13, b13);
  to += 2 * plane_words;
  to[0] = pack_high(a02, b02);
  to[plane_words] = pack_high(a13, b13);
}

static __attribute__((noinline)) void widen_rows(const widening *w, const int8_t *x, int32_t rows,
                                                 int8x4_t padding, uint32_t *planes) {
  const int32_t channels = w->channels;
  const int32_t plane_words = w->plane_words;
  for (; rows > 0; --rows) {
    const int8_t *at = x;
    uint32_t *to = planes;
    if (w->left) {
      put(padding, pl_load_4(at), to++, plane_words);
      at += channels;
    }
    for (const uint32_t *end = to + w->inner; to != end; ++to) {
      put(pl_load_4(at), pl_load_4(at + channels), to, plane_words);
      at += 2 * channels;
    }
    if (w->right) put(pl_load_4(at), padding, to, plane_words);
    x += w->input_row;
    planes += w->row_words;
  }
}

static inline void convolve(const pl_depthwise_conv2d_params *params, const int32_t *constants,
                            const uint32_t *plane, int8_t *y, const strip_shape *shape) {
  const int lowest = params->output_zero_point == INT8_MIN;
  if (params->stride_w == 1) {
    if (lowest) {
      channel_lowest(constants, plane, y, shape);
    } else {
      channel(constants, plane, y, shape);
    }
  } else if (lowest) {
    channel_stride_2_lowest(constants, plane, y, shape);
  } else {
    channel_stride_2(constants, plane, y, shape);
  }
}

static inline void fill(uint32_t *planes, int32_t plane_words, uint32_t value) {
  for (; plane_words > 0; --plane_words) {
    for (int32_t i = 0; i < PLANES; ++i) planes[i] = value;
    planes += PLANES;
  }
}

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

pl_status pl_depthwise_planes_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                 const pl_depthwise_conv2d_dims *dims,
                                 const pl_depthwise_conv2d_data *data) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t channels = dims->input_c;
  const int32_t pairs = params->stride_w == 1 ? dims->output_w / 2 : dims->output_w & ~1;
  const int32_t odd = dims->output_w & 1;
  const int32_t row_words = params->stride_w == 1 ? pairs + odd + 1 : dims->output_w + 1;
  // As many rows of the output at a time as there is scratch for.
  const int32_t room = dims->scratch_bytes / (PLANES * 4 * row_words);
  const int32_t strip = smaller((room - TAPS) / params->stride_h + 1, dims->output_h);
  strip_shape shape = {
      .step = channels,
      .odd = odd,
      .end_step = 4 * row_words * params->stride_h,
      .row_bytes = 4 * row_words,
      .walked = 4 * pairs,
      .twice_zero_point_and_1 = 2 * params->output_zero_point + 1,
  };
  shape.skip = shape.end_step - 4 * (pairs + odd);
  widening w = {
      .channels = channels,
      .input_row = dims->input_w * channels,
      .row_words = row_words,
      .plane_words = ((strip - 1) * params->stride_h + TAPS) * row_words,
      .left = params->pad_left & 1,
  };
  // Columns of the input that some window has.
  const int32_t columns = smaller(2 * row_words - params->pad_left, dims->input_w);
  w.inner = (columns - w.left) / 2;
  w.right = (columns - w.left) & 1;
  const int32_t first_word = params->pad_left / 2;
  const int is_padded = first_word > 0 || w.left + w.inner + w.right < row_words;
  const int8x4_t padding = (int8x4_t)(0x01010101u * (uint8_t)params->input_zero_point);
  const uint32_t wide_padding = (uint32_t)pl_even_s16(padding);

  uint32_t *const planes = ctx->scratch;
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; oy += strip) {
      shape.rows = smaller(dims->output_h - oy, strip);
      const int32_t top = oy * params->stride_h - params->pad_top;
      const int32_t bottom = top + (shape.rows - 1) * params->stride_h + TAPS;
      const int32_t begin = top < 0 ? 0 : top;
      const int32_t end = smaller(bottom, dims->input_h);
      // Padding is at the same places in all planes.
      if (is_padded || begin != top || end != bottom) {
        fill(planes, w.plane_words, wide_padding);
      }
      const int32_t *constants = data->bias;
      for (int32_t channel_0 = 0; channel_0 < channels; channel_0 += PLANES) {
        // The last four channels may have some of the four before them, again.
        const int32_t c = smaller(channel_0, channels - PLANES);
        if (columns > 0 && begin < end) {
          widen_rows(&w, image + begin * w.input_row + c, end - begin, padding,
                     planes + (begin - top) * row_words + first_word);
        }
        for (int32_t i = 0; i < PLANES; ++i) {
          convolve(params, constants, planes + i * w.plane_words,
                   output + oy * dims->output_w * channels + c + i, &shape);
          constants += 6;
        }
      }
    }
    image += dims->input_h * w.input_row;
    output += dims->output_h * dims->output_w * channels;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, dims->batches * dims->output_h * dims->output_w * channels,
                params->activation_min, params->activation_max);
  }
  return PL_OK;
}
