// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/optimized.h"

#include "kernels/depthwise_conv2d/planes_dsp.h"

// A word of a plane holds two neighbours in x. With words a = (x0, x1) and b = (x2, x3), a row of
// taps w0, w1, w2 of two outputs takes four multiplications: SMLAD(a, w0 w1) + SMLABT(b, w1 w2) and
// SMLAD(b, w1 w2) + SMLATB(a, w0 w1). The six words of weights stay in registers. At stride 3 the
// second output begins in the middle of b: it is SMLATB(b, w0 w1) + SMLAD(c, w1 w2).
//
// Four addresses, six weights and two sums leave two registers. For two outputs at stride 1 GCC
// makes 41 instructions from C with intrinsics. Ten of them load from the stack or store there.
// This assembly takes 29.

// Four channels of a strip, in their stack layout during the assembly, and other data on the stack.
typedef struct {
  int32_t multiplier;  // from here on of the channel
  int32_t offset;
  int32_t right;
  int32_t step;  // from output to output: channels
  int32_t odd;   // whether a row has one more output than the pairs
  int32_t rows_left;
  int32_t row_end;  // end of the row's inputs for the pairs
  int32_t twice_bias;
  int32_t skip;      // bytes from the end of a row of windows to the next
  int32_t end_step;  // bytes from a row of windows to the next
  const int32_t *constants;
  const uint32_t *plane;
  int32_t row_bytes;  // per plane row
  int32_t plane_bytes;
  int8_t *y;
  int32_t walked;  // bytes of a plane's row used by the pairs
  int32_t rows;    // of the output
  int32_t twice_zero_point_and_1;
  int32_t channels_left;
} strip;

// r2, r3, r12: three rows of the plane; r4 to r9: weights (w0 w1, w1 w2 of each row) times two,
// because the sum is doubled; lr: output; r10, r11: sums. r10 begins with twice the bias.
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
#define NEXT_ROW                                                                                  \
  "ldrd r0, r1, [sp, #20]\n\tsubs r0, r0, #1\n\tbeq 5f\n\tldrd r10, r11, [sp, #32]\n\t"           \
  "add r1, r1, r11\n\tadd r2, r2, r10\n\tadd r3, r3, r10\n\tadd r12, r12, r10\n\t"                \
  "strd r0, r1, [sp, #20]\n\tb 1b\n\t5:\n\tldr r0, [sp, #72]\n\tsubs r0, r0, #1\n\tstr r0, [sp, " \
  "#72]\n\tbne 0b\n\t"                                                                            \
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
#define TAPS_2_STRIDE_3(P, W, V, SUM)                                      \
  "ldrd r0, r1, [" P "], #8\n\tsmlatb r11, r1, " W ", " SUM                \
  "\n\t"                                                                   \
  "smlad r10, r0, " W ", r10\n\tldr r0, [" P "], #4\n\tsmlabt r10, r1, " V \
  ", r10\n\t"                                                              \
  "smlad r11, r0, " V ", r11\n\t"
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
FOUR_CHANNELS(stride_3_lowest, TAPS_2_STRIDE_3, HIGH_LOWEST)
FOUR_CHANNELS(stride_3, TAPS_2_STRIDE_3, HIGH)

typedef void four_channels(const strip *shape);

typedef struct {
  strip shape;
  const int32_t *constants;
  four_channels *convolve;
} layer_3x3;

static inline void convolve(void *of, const pl_planes *p) {
  layer_3x3 *layer = of;
  strip *shape = &layer->shape;
  shape->end_step = 4 * p->row_words * p->stride_h;
  shape->skip = shape->end_step - 4 * shape->odd - shape->walked;
  shape->row_bytes = 4 * p->row_words;
  shape->plane_bytes = 4 * p->plane_words;
  shape->rows = p->rows;
  shape->constants = layer->constants + 6 * (p->first + p->again);
  shape->plane = p->planes + p->again * p->plane_words;
  shape->y = p->y + p->again;
  shape->channels_left = PL_PLANES - p->again;
  layer->convolve(shape);
}

static __attribute__((noinline)) pl_status run(const pl_context *ctx,
                                               const pl_depthwise_conv2d_params *params,
                                               const pl_depthwise_conv2d_dims *dims,
                                               const pl_depthwise_conv2d_data *data,
                                               four_channels *function) {
  layer_3x3 layer = {
      .shape =
          {
              .step = dims->input_c,
              .odd = dims->output_w & 1,
              .walked = dims->output_w / 2 * 4 * params->stride_w,
              .twice_zero_point_and_1 = 2 * params->output_zero_point + 1,
          },
      .constants = data->bias,
      .convolve = function,
  };
  const int32_t row_words = (dims->output_w - 1) * params->stride_w / 2 + 2;
  return pl_depthwise_by_planes(ctx, params, dims, data, row_words, 0, 0, &layer, widen_rows,
                                convolve);
}

pl_status pl_depthwise_planes_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                 const pl_depthwise_conv2d_dims *dims,
                                 const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, stride_1);
}

pl_status pl_depthwise_planes_lowest_s8(const pl_context *ctx,
                                        const pl_depthwise_conv2d_params *params,
                                        const pl_depthwise_conv2d_dims *dims,
                                        const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, stride_1_lowest);
}

pl_status pl_depthwise_planes_2_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                   const pl_depthwise_conv2d_dims *dims,
                                   const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, stride_2);
}

pl_status pl_depthwise_planes_2_lowest_s8(const pl_context *ctx,
                                          const pl_depthwise_conv2d_params *params,
                                          const pl_depthwise_conv2d_dims *dims,
                                          const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, stride_2_lowest);
}

pl_status pl_depthwise_planes_3_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                   const pl_depthwise_conv2d_dims *dims,
                                   const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, stride_3);
}

pl_status pl_depthwise_planes_3_lowest_s8(const pl_context *ctx,
                                          const pl_depthwise_conv2d_params *params,
                                          const pl_depthwise_conv2d_dims *dims,
                                          const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, stride_3_lowest);
}
