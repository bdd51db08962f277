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

// Four channels of a strip, as they lie on the stack while the assembly runs, and what else does.
typedef struct {
  int32_t multiplier;  // from here on of the channel
  int32_t offset;
  int32_t right;
  int32_t step;  // from output to output: channels
  int32_t odd;   // whether a row has an output more than the pairs
  int32_t rows_left;
  int32_t row_end;  // where the pairs of the row have walked over its inputs
  int32_t twice_bias;
  int32_t skip;      // bytes from behind a row of windows to the next
  int32_t end_step;  // bytes from a row of windows to the next
  const int32_t *constants;
  const uint32_t *plane;
  int32_t row_bytes;  // of a plane
  int32_t plane_bytes;
  int8_t *y;
  int32_t walked;  // bytes of a plane's row that the pairs walk over
  int32_t rows;    // of the output
  int32_t twice_zero_point_and_1;
  int32_t channels_left;
} strip;

// r2, r3, r12: three rows of the plane, r4 to r9: weights (w0 w1, w1 w2 of each row) times two, as
// the sum is to be doubled, lr: output, r10, r11: sums, of
// which r10 begins with twice the bias.
#define WEIGHTS(FROM, TO0, TO1)                               \
  "sxtb16 " TO1 ", " FROM ", ror #8\n\tsxtb16 " TO0 ", " FROM \
  "\n\t"                                                      \
  "sadd16 " TO0 ", " TO0 ", " TO0 "\n\tsadd16 " TO1 ", " TO1 ", " TO1 "\n\t"
#define BEGIN                                                                                   \
  "push {r4-r11, lr}\n\tsub sp, sp, #76\n\tmov r12, sp\n\t"                                     \
  "ldm r0!, {r4-r11}\n\tstm r12!, {r4-r11}\n\tldm r0!, {r4-r11}\n\tstm r12!, {r4-r11}\n\t"      \
  "ldm r0, {r4-r6}\n\tstm r12, {r4-r6}\n\t"                                                     \
  "0:\n\tldrd r0, r2, [sp, #40]\n\tldm r0!, {r4-r9}\n\tldrd r3, r1, [sp, #48]\n\t"              \
  "add r1, r1, r2\n\tstrd r0, r1, [sp, #40]\n\tldr lr, [sp, #56]\n\tadd r0, lr, #1\n\t"         \
  "str r0, [sp, #56]\n\tldrd r0, r1, [sp, #60]\n\tadd r0, r0, r2\n\tstrd r1, r0, [sp, #20]\n\t" \
  "add r12, r2, r3, lsl #1\n\tadd r3, r2, r3\n\tldr r10, [sp, #68]\n\tlsl r10, r10, r9\n\t"     \
  "strd r8, r10, [sp]\n\tstr r9, [sp, #8]\n\tlsl r7, r7, #1\n\tstr r7, [sp, #28]\n\t" WEIGHTS(  \
      "r6", "r8", "r9") WEIGHTS("r5", "r6", "r7") WEIGHTS("r4", "r4", "r5")
#define NEXT_ROW                                                                                 \
  "ldrd r0, r1, [sp, #20]\n\tldrd r10, r11, [sp, #32]\n\tadd r1, r1, r11\n\tadd r2, r2, r10\n\t" \
  "add r3, r3, r10\n\tadd r12, r12, r10\n\tsubs r0, r0, #1\n\tstrd r0, r1, [sp, #20]\n\t"        \
  "bne 1b\n\tldr r0, [sp, #72]\n\tsubs r0, r0, #1\n\tstr r0, [sp, #72]\n\tbne 0b\n\t"            \
  "add sp, sp, #76\n\tpop {r4-r11, pc}\n\t"
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
#define OUTPUT_2(ROW, HIGH)                                                                 \
  ROW("r2", "r4", "r5", "r10")                                                              \
  ROW("r3", "r6", "r7", "r11")                                                              \
  ROW("r12", "r8", "r9", "r11")                                                             \
  "ldrd r0, r1, [sp]\n\t" HIGH("r10") HIGH("r11") "ldrd r0, r1, [sp, #8]\n\t" NARROW("r10") \
      NARROW("r11") "strb r10, [lr]\n\tstrb r11, [lr, r1]\n\tadd lr, lr, r1, lsl #1\n\t"
#define OUTPUT_1(HIGH)                                                    \
  TAPS_1("r2", "r4", "r5")                                                \
  TAPS_1("r3", "r6", "r7")                                                \
  TAPS_1("r12", "r8", "r9")                                               \
  "ldrd r0, r1, [sp]\n\t" HIGH("r10") "ldrd r0, r1, [sp, #8]\n\t" NARROW( \
      "r10") "strb r10, [lr]\n\tadd lr, lr, r1\n\t"

#define FOUR_CHANNELS(NAME, ROW, HIGH)                                                            \
  static __attribute__((naked, noinline)) void NAME(__attribute__((unused)) const strip *shape) { \
    __asm__ volatile(BEGIN "1:\n\tldr r10, [sp, #28]\n\t2:\n\t" OUTPUT_2(                         \
        ROW, HIGH) "ldrd r0, r10, [sp, #24]\n\tcmp r2, r0\n\t"                                    \
                   "bne 2b\n\tldr r0, [sp, #16]\n\t"                                              \
                   "cbz r0, 4f\n\t" OUTPUT_1(HIGH) "4:\n\t" NEXT_ROW);                            \
  }
FOUR_CHANNELS(stride_1_lowest, TAPS_2, HIGH_LOWEST)
FOUR_CHANNELS(stride_1, TAPS_2, HIGH)
FOUR_CHANNELS(stride_2_lowest, TAPS_2_STRIDE_2, HIGH_LOWEST)
FOUR_CHANNELS(stride_2, TAPS_2_STRIDE_2, HIGH)

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

// Of two neighbours the first two channels, and the last two, become a word of four bytes; SXTB16
// makes of it a word of each of their planes.
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

// Fours of neighbours, to two words of each plane. Returns where the input goes on.
static inline const int8_t *put_fours(const int8_t *x, int32_t channels, int32_t fours,
                                      uint32_t *to, int32_t plane_words) {
  uint32_t *to1 = to + plane_words;
  uint32_t *to2 = to1 + plane_words;
  uint32_t *to3 = to2 + plane_words;
  for (const uint32_t *end = to + 2 * fours; to != end;) {
    uint32_t a, b, c, d, e, f;
    __asm__(
        "ldr %[a], [%[x]]\n\t"
        "ldr %[e], [%[x], %[channels]]\n\t"
        "add %[x], %[x], %[channels], lsl #1\n\t" PAIR("%[a]", "%[e]", "%[b]")
        "ldr %[c], [%[x]]\n\t"
        "ldr %[e], [%[x], %[channels]]\n\t"
        "add %[x], %[x], %[channels], lsl #1\n\t" PAIR("%[c]", "%[e]", "%[d]")
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
        : [channels] "r"(channels)
        : "memory");
  }
  return x;
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
    at = put_fours(at, channels, w->inner / 2, to, plane_words);
    to += w->inner & ~1;
    if ((w->inner & 1) != 0) {
      put(pl_load_4(at), pl_load_4(at + channels), to++, plane_words);
      at += 2 * channels;
    }
    if (w->right) put(pl_load_4(at), padding, to, plane_words);
    x += w->input_row;
    planes += w->row_words;
  }
}

static inline void fill(uint32_t *planes, int32_t plane_words, uint32_t value) {
  for (; plane_words > 0; --plane_words) {
    for (int32_t i = 0; i < PLANES; ++i) planes[i] = value;
    planes += PLANES;
  }
}

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

typedef void four_channels(const strip *shape);

static inline __attribute__((always_inline)) pl_status run(const pl_context *ctx,
                                                           const pl_depthwise_conv2d_params *params,
                                                           const pl_depthwise_conv2d_dims *dims,
                                                           const pl_depthwise_conv2d_data *data,
                                                           int32_t stride_w,
                                                           four_channels *convolve) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t channels = dims->input_c;
  const int32_t pairs = stride_w == 1 ? dims->output_w / 2 : dims->output_w & ~1;
  const int32_t odd = dims->output_w & 1;
  const int32_t row_words = stride_w == 1 ? pairs + odd + 1 : dims->output_w + 1;
  // As many rows of the output at a time as there is scratch for.
  const int32_t room = dims->scratch_bytes / (PLANES * 4 * row_words);
  const int32_t strip_rows = smaller((room - TAPS) / params->stride_h + 1, dims->output_h);
  const int32_t plane_words = ((strip_rows - 1) * params->stride_h + TAPS) * row_words;
  strip shape = {
      .step = channels,
      .odd = odd,
      .end_step = 4 * row_words * params->stride_h,
      .row_bytes = 4 * row_words,
      .plane_bytes = 4 * plane_words,
      .walked = 4 * pairs,
      .twice_zero_point_and_1 = 2 * params->output_zero_point + 1,
      .channels_left = PLANES,
  };
  shape.skip = shape.end_step - 4 * (pairs + odd);
  widening w = {
      .channels = channels,
      .input_row = dims->input_w * channels,
      .row_words = row_words,
      .plane_words = plane_words,
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
    for (int32_t oy = 0; oy < dims->output_h; oy += strip_rows) {
      shape.rows = smaller(dims->output_h - oy, strip_rows);
      const int32_t top = oy * params->stride_h - params->pad_top;
      const int32_t bottom = top + (shape.rows - 1) * params->stride_h + TAPS;
      const int32_t begin = top < 0 ? 0 : top;
      const int32_t end = smaller(bottom, dims->input_h);
      // Padding is at the same places in all planes.
      if (is_padded || begin != top || end != bottom) {
        fill(planes, plane_words, wide_padding);
      }
      shape.constants = data->bias;
      for (int32_t channel_0 = 0; channel_0 < channels; channel_0 += PLANES) {
        // The last four channels may have some of the four before them, again.
        const int32_t c = smaller(channel_0, channels - PLANES);
        if (columns > 0 && begin < end) {
          widen_rows(&w, image + begin * w.input_row + c, end - begin, padding,
                     planes + (begin - top) * row_words + first_word);
        }
        shape.plane = planes;
        shape.y = output + oy * dims->output_w * channels + c;
        convolve(&shape);
        shape.constants += 6 * PLANES;
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

pl_status pl_depthwise_planes_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                 const pl_depthwise_conv2d_dims *dims,
                                 const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, 1, stride_1);
}

pl_status pl_depthwise_planes_lowest_s8(const pl_context *ctx,
                                        const pl_depthwise_conv2d_params *params,
                                        const pl_depthwise_conv2d_dims *dims,
                                        const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, 1, stride_1_lowest);
}

pl_status pl_depthwise_planes_2_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                   const pl_depthwise_conv2d_dims *dims,
                                   const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, 2, stride_2);
}

pl_status pl_depthwise_planes_2_lowest_s8(const pl_context *ctx,
                                          const pl_depthwise_conv2d_params *params,
                                          const pl_depthwise_conv2d_dims *dims,
                                          const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, 2, stride_2_lowest);
}
