// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_blocks_s8.h"

#include <stdbool.h>

#include "kernels/common/requantize_mve.h"

#define CHANNELS 4
#define LANES 16

// Bytes of the weights of four channels.
static int32_t block_bytes(const pl_gemm_blocks_s8 *layer) {
  return CHANNELS * ((layer->depth + LANES - 1) & ~(LANES - 1));
}

// ---- Two rows -----------------------------------------------------------------------------------
// Six loads and eight VMLADAVA for 128 products. Around a loop with eight sums GCC moves them to
// and fro; the function is in assembly as a whole.

// State of the loops over channels and pairs of rows in memory; r11 points to it.
typedef struct {
  const int8_t *weight;      // 0
  int32_t depth;             // 4
  const int32_t *constants;  // 8, of four channels
  int32_t x_stride;          // 12
  int32_t x_advance;         // 16, two rows
  int8_t *y;                 // 20
  int32_t y_stride;          // 24
  int32_t zero_point;        // 28
  int32_t pairs;             // 32
  const int8_t *x;           // 36
  int32_t channels_left;     // 40
  int32_t minimum;           // 44
  int32_t maximum;           // 48
  const int8_t *first_x;     // 52
  int8_t *first_y;           // 56, of four channels
  int32_t all_pairs;         // 60
} blocks;

// r1, r3: rows, r5: weights; r0, r2, r4, r6: sums of the first row, r8, r10, r12, lr: of the
// second.
#define MULTIPLY                                                                    \
  "vldrb.u8 q2, [r5], #16\n\tvmladava.s8 r0, q0, q2\n\tvmladava.s8 r8, q1, q2\n\t"  \
  "vldrb.u8 q3, [r5], #16\n\tvmladava.s8 r2, q0, q3\n\tvmladava.s8 r10, q1, q3\n\t" \
  "vldrb.u8 q2, [r5], #16\n\tvmladava.s8 r4, q0, q2\n\tvmladava.s8 r12, q1, q2\n\t" \
  "vldrb.u8 q3, [r5], #16\n\tvmladava.s8 r6, q0, q3\n\tvmladava.s8 lr, q1, q3\n\t"
#define STEP "vldrb.u8 q0, [r1], #16\n\tvldrb.u8 q1, [r3], #16\n\t" MULTIPLY

// requantize.h with q4 multiplier and q5 shift, zero point in r9, q6 minimum, q7 maximum.
#define REQUANTIZE(Q, T)                                \
  "vqrdmulh.s32 " Q ", " Q ", q4\n\tvshr.s32 " T ", " Q \
  ", #31\n\t"                                           \
  "vadd.i32 " Q ", " Q ", " T "\n\tvrshl.s32 " Q ", " Q \
  ", q5\n\t"                                            \
  "vqadd.s32 " Q ", " Q ", r9\n\tvmax.s32 " Q ", " Q ", q6\n\tvmin.s32 " Q ", " Q ", q7\n\t"

// Not inlined: functions do not preserve VPR, and clang does not accept it in a clobber list. R7 is
// saved here: it may be the frame pointer, which no clobber list has.
static __attribute__((noinline)) void multiply_pairs_of_rows(blocks *b) {
  register blocks *at __asm__("r11") = b;
  __asm__ volatile(
      "push {r7}\n\tldrd r2, r3, [r11, #44]\n\tvdup.32 q6, r2\n\tvdup.32 q7, r3\n\tldr r0, [r11, #8]\n\t"
      // Four channels. The next weights begin at the end of the block's, in r5.
      "6:\n\t"
      "vldrw.u32 q4, [r0, #16]\n\tvldrw.u32 q5, [r0, #32]\n\t"
      "ldrd r1, r2, [r11, #52]\n\tldr r3, [r11, #60]\n\t"
      "str r2, [r11, #20]\n\tstrd r3, r1, [r11, #32]\n\t"
      "1:\n\t"
      "ldrd r5, r7, [r11]\n\tldrd r9, r3, [r11, #8]\n\t"
      "ldrd r0, r2, [r9]\n\tldrd r4, r6, [r9, #8]\n\tadd r3, r1\n\t"
      "mov r8, r0\n\tmov r10, r2\n\tmov r12, r4\n\tmov lr, r6\n\t"
      "subs r7, #32\n\tblt 3f\n\t"
      "2:\n\t" STEP STEP "subs r7, #32\n\tbge 2b\n\t"
      "3:\n\t"
      "adds r7, #32\n\tbeq 5f\n\t"
      "subs r7, #16\n\tblt 4f\n\t" STEP "beq 5f\n\tsubs r7, #16\n\t"
      "4:\n\t"
      "adds r7, #16\n\tvctp.8 r7\n\tvpstt\n\t"
      "vldrbt.u8 q0, [r1]\n\tvldrbt.u8 q1, [r3]\n\t" MULTIPLY
      "5:\n\t"
      "vmov d0, r0, r2\n\tvmov d1, r4, r6\n\tvmov d2, r8, r10\n\tvmov d3, r12, lr\n\t"
      "ldrd r2, r3, [r11, #20]\n\tldrd r9, r12, [r11, #28]\n\t"
      REQUANTIZE("q0", "q2") REQUANTIZE("q1", "q3")
      "ldrd r1, r4, [r11, #36]\n\tldr r6, [r11, #16]\n\tadd r7, r2, r3\n\tvctp.32 r4\n\tvpstt\n\t"
      "vstrbt.32 q0, [r2]\n\tvstrbt.32 q1, [r7]\n\t"
      "add r7, r3\n\tadd r1, r6\n\tstr r7, [r11, #20]\n\tstr r1, [r11, #36]\n\t"
      "subs r12, #1\n\tstr r12, [r11, #32]\n\tbne 1b\n\t"
      "ldr r0, [r11, #8]\n\tldr r2, [r11, #56]\n\tadds r0, #48\n\tadds r2, #4\n\t"
      "str r5, [r11]\n\tstr r0, [r11, #8]\n\tstr r2, [r11, #56]\n\t"
      "subs r4, #4\n\tstr r4, [r11, #40]\n\tbgt 6b\n\tpop {r7}"
      :
      : "r"(at)
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "q0", "q1",
        "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}

// ---- One row ------------------------------------------------------------------------------------
// Eight channels, two blocks: nine loads and eight VMLADAVA for 128 products.

typedef struct {
  const int8_t *weight;      // 0
  int32_t depth;             // 4
  const int32_t *constants;  // 8
  int32_t block_bytes;       // 12, of weights
  const int8_t *x;           // 16
  int8_t *y;                 // 20
  int32_t channels_left;     // 24
  int32_t zero_point;        // 28
  int32_t minimum;           // 32
  int32_t maximum;           // 36
} row;

// r1: row, r5, r3: weights; r0, r2, r4, r6: sums of the first block, r8, r10, r12, lr: of the
// second.
#define MULTIPLY_FIRST                                   \
  "vldrb.u8 q1, [r5], #16\n\tvmladava.s8 r0, q0, q1\n\t" \
  "vldrb.u8 q2, [r5], #16\n\tvmladava.s8 r2, q0, q2\n\t" \
  "vldrb.u8 q3, [r5], #16\n\tvmladava.s8 r4, q0, q3\n\t" \
  "vldrb.u8 q4, [r5], #16\n\tvmladava.s8 r6, q0, q4\n\t"
#define MULTIPLY_SECOND                                   \
  "vldrb.u8 q1, [r3], #16\n\tvmladava.s8 r8, q0, q1\n\t"  \
  "vldrb.u8 q2, [r3], #16\n\tvmladava.s8 r10, q0, q2\n\t" \
  "vldrb.u8 q3, [r3], #16\n\tvmladava.s8 r12, q0, q3\n\t" \
  "vldrb.u8 q4, [r3], #16\n\tvmladava.s8 lr, q0, q4\n\t"
#define MULTIPLY_ROW MULTIPLY_FIRST MULTIPLY_SECOND

// Not inlined: as above.
static __attribute__((noinline)) void multiply_row(row *b) {
  register row *at __asm__("r11") = b;
  __asm__ volatile(
      "push {r7}\n\tldrd r2, r3, [r11, #32]\n\tvdup.32 q6, r2\n\tvdup.32 q7, r3\n\t"
      "ldr r4, [r11, #24]\n\t"
      "1:\n\t"
      "cmp r4, #4\n\tble 5f\n\t"
      "ldrd r9, r3, [r11, #8]\n\tldrd r5, r7, [r11]\n\tldr r1, [r11, #16]\n\t"
      "add r12, r9, #48\n\tadd r3, r5\n\t"
      "ldrd r0, r2, [r9]\n\tldrd r4, r6, [r9, #8]\n\t"
      "ldrd r8, r10, [r12]\n\tldrd r12, lr, [r12, #8]\n\t"
      "subs r7, #16\n\tblt 3f\n\t"
      "2:\n\tvldrb.u8 q0, [r1], #16\n\t" MULTIPLY_ROW "subs r7, #16\n\tbge 2b\n\t"
      "3:\n\tadds r7, #16\n\tbeq 4f\n\tvctp.8 r7\n\tvpst\n\tvldrbt.u8 q0, [r1]\n\t" MULTIPLY_ROW
      "4:\n\t"
      "vmov d0, r0, r2\n\tvmov d1, r4, r6\n\tvmov d2, r8, r10\n\tvmov d3, r12, lr\n\t"
      "mov r0, r9\n\tldrd r2, r4, [r11, #20]\n\tldr r9, [r11, #28]\n\tstr r3, [r11]\n\t"
      "vldrw.u32 q4, [r0, #16]\n\tvldrw.u32 q5, [r0, #32]\n\t"
      REQUANTIZE("q0", "q2") "vctp.32 r4\n\tvpst\n\tvstrbt.32 q0, [r2]\n\t"
      "vldrw.u32 q4, [r0, #64]\n\tvldrw.u32 q5, [r0, #80]\n\tsubs r4, #4\n\t"
      REQUANTIZE("q1", "q3") "vctp.32 r4\n\tvpst\n\tvstrbt.32 q1, [r2, #4]\n\t"
      "add r2, #8\n\tadd r0, #96\n\tsubs r4, #4\n\tstrd r2, r4, [r11, #20]\n\tstr r0, [r11, #8]\n\t"
      "bgt 1b\n\tb 9f\n\t"
      // One block is left, maybe of two channels or one.
      "5:\n\t"
      "cmp r4, #2\n\tldrd r5, r7, [r11]\n\tldr r9, [r11, #8]\n\tldr r1, [r11, #16]\n\t"
      "ldrd r0, r2, [r9]\n\tldrd r4, r6, [r9, #8]\n\tbgt 10f\n\t"
      "dlstp.8 lr, r7\n\t11:\n\tvldrb.u8 q0, [r1], #16\n\tvldrb.u8 q2, [r5, #16]\n\t"
      "vldrb.u8 q1, [r5], #64\n\tvmladava.s8 r0, q0, q1\n\tvmladava.s8 r2, q0, q2\n\t"
      "letp lr, 11b\n\tb 8f\n\t"
      "10:\n\tlsr r8, r7, #4\n\twls lr, r8, 7f\n\t"
      "6:\n\tvldrb.u8 q0, [r1], #16\n\t" MULTIPLY_FIRST "le lr, 6b\n\t"
      "7:\n\tands r7, #15\n\tbeq 8f\n\tvctp.8 r7\n\tvpst\n\tvldrbt.u8 q0, [r1]\n\t" MULTIPLY_FIRST
      "8:\n\t"
      "vmov d0, r0, r2\n\tvmov d1, r4, r6\n\tmov r0, r9\n\t"
      "ldrd r2, r4, [r11, #20]\n\tldr r9, [r11, #28]\n\t"
      "vldrw.u32 q4, [r0, #16]\n\tvldrw.u32 q5, [r0, #32]\n\t"
      REQUANTIZE("q0", "q2") "vctp.32 r4\n\tvpst\n\tvstrbt.32 q0, [r2]\n\t"
      "9:\n\tpop {r7}"
      :
      : "r"(at)
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "q0", "q1",
        "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}

// ---- One channel --------------------------------------------------------------------------------
// For a last block with one or two channels. Four rows share its weights: five loads and four
// VMLADAVA for 64 products. Two rows of a block would take as many steps as with four channels.

#define ROWS 4

// The sums of four rows, or fewer: the last again and again.
static int32x4_t sums_of_rows(const int8_t *weight, int32_t bias, int32_t depth, const int8_t *x0,
                              int32_t stride, int32_t rows) {
  const int8_t *x1 = rows > 1 ? x0 + stride : x0;
  const int8_t *x2 = rows > 2 ? x1 + stride : x1;
  const int8_t *x3 = rows > 3 ? x2 + stride : x2;
  int32_t sum0 = bias;
  int32_t sum1 = bias;
  int32_t sum2 = bias;
  int32_t sum3 = bias;
  int32x4_t sums;
  __asm__(
      "dlstp.8 lr, %[depth]\n\t1:\n\tvldrb.u8 q0, [%[weight]], #64\n\t"
      "vldrb.u8 q1, [%[x0]], #16\n\tvmladava.s8 %[sum0], q0, q1\n\t"
      "vldrb.u8 q1, [%[x1]], #16\n\tvmladava.s8 %[sum1], q0, q1\n\t"
      "vldrb.u8 q1, [%[x2]], #16\n\tvmladava.s8 %[sum2], q0, q1\n\t"
      "vldrb.u8 q1, [%[x3]], #16\n\tvmladava.s8 %[sum3], q0, q1\n\tletp lr, 1b\n\t"
      "vmov %e[sums], %[sum0], %[sum1]\n\tvmov %f[sums], %[sum2], %[sum3]"
      : [weight] "+r"(weight), [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3),
        [sum0] "+Te"(sum0), [sum1] "+Te"(sum1), [sum2] "+Te"(sum2), [sum3] "+Te"(sum3),
        [sums] "=w"(sums)
      : [depth] "r"(depth)
      : "lr", "q0", "q1", "memory");
  return sums;
}

// Weights and constants of the channel are every fourth of its block.
static void multiply_channel(const pl_gemm_blocks_s8 *layer, const int8_t *weight,
                             const int32_t *constants, int32_t rows, const int8_t *x,
                             int32_t x_stride, int8_t *y, int32_t y_stride) {
  const int32x4_t minimum = vdupq_n_s32(layer->activation_min);
  const int32x4_t maximum = vdupq_n_s32(layer->activation_max);
  const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)y_stride);
  for (; rows > 0; rows -= ROWS, x += ROWS * x_stride, y += ROWS * y_stride) {
    int32x4_t sums = sums_of_rows(weight, constants[0], layer->depth, x, x_stride, rows);
    sums = pl_requantize_down_mve(sums, constants[CHANNELS], constants[2 * CHANNELS]);
    sums = vqaddq_n_s32(sums, layer->zero_point);
    sums = vminq_s32(vmaxq_s32(sums, minimum), maximum);
    vstrbq_scatter_offset_p_s32(y, places, sums, vctp32q((uint32_t)rows));
  }
}

// ---- All ----------------------------------------------------------------------------------------

void pl_multiply_blocks_s8(const pl_gemm_blocks_s8 *layer, int32_t rows, const int8_t *x,
                           int32_t x_stride, int8_t *y, int32_t y_stride) {
  const int32_t even = rows & ~1;
  if (even > 0) {
    blocks b = {
        .weight = layer->weight,
        .depth = layer->depth,
        .constants = layer->constants,
        .x_stride = x_stride,
        .x_advance = 2 * x_stride,
        .y_stride = y_stride,
        .zero_point = layer->zero_point,
        .channels_left = layer->channels,
        .minimum = layer->activation_min,
        .maximum = layer->activation_max,
        .first_x = x,
        .first_y = y,
        .all_pairs = even / 2,
    };
    multiply_pairs_of_rows(&b);
  }
  if (even < rows) {
    row b = {
        .weight = layer->weight,
        .depth = layer->depth,
        .constants = layer->constants,
        .block_bytes = block_bytes(layer),
        .x = x + even * x_stride,
        .y = y + even * y_stride,
        .channels_left = layer->channels,
        .zero_point = layer->zero_point,
        .minimum = layer->activation_min,
        .maximum = layer->activation_max,
    };
    multiply_row(&b);
  }
}

void pl_multiply_last_blocks_s8(const pl_gemm_blocks_s8 *layer, int32_t rows, const int8_t *x,
                                int32_t x_stride, int8_t *y, int32_t y_stride) {
  const int32_t left = layer->channels & (CHANNELS - 1);
  const bool pays = left == 1 ? rows > 1 : left == 2 && (rows % ROWS == 0 || rows > 3 * ROWS);
  pl_gemm_blocks_s8 whole = *layer;
  if (pays) whole.channels -= left;
  if (whole.channels > 0) pl_multiply_blocks_s8(&whole, rows, x, x_stride, y, y_stride);
  if (!pays) return;
  const int32_t skipped = (int32_t)((uint32_t)whole.channels / CHANNELS);
  const int8_t *weight = layer->weight + skipped * block_bytes(layer);
  const int32_t *constants = layer->constants + 3 * whole.channels;
  y += whole.channels;
  for (const int8_t *end = y + left; y != end; ++y) {
    multiply_channel(layer, weight, constants, rows, x, x_stride, y, y_stride);
    weight += LANES;
    ++constants;
  }
}
