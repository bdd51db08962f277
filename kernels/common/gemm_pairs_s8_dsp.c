// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_pairs_s8.h"

// ---- Four rows ----------------------------------------------------------------------------------
// LDR, SXTB16, two LDRD and eight SMLAD are twelve instructions for 16 products, and take every
// register: around a loop in assembly GCC spills, so these functions are in assembly as a whole.

typedef struct {
  const uint32_t *x;
  const uint32_t *x_end;  // of the first two steps and those that go by eights
  int8_t *y;
  int32_t y_stride;
  const int32_t *factors;
  int32_t pairs;
  int32_t rest;  // steps left over: 0, 2, 4 or 6
  int32_t twice_zero_point_and_1;
} block;

// r4 to r7: 256 * A + B of the four rows, or A, r8 to r11: B, r12: x, lr: weights.
#define STEP(UNPACK)                                                           \
  "ldr r2, [lr], #4\n\tldrd r0, r1, [r12], #8\n\t" UNPACK                      \
  "smlad r4, r2, r0, r4\n\tsmlad r8, r3, r0, r8\n\t"                           \
  "smlad r5, r2, r1, r5\n\tsmlad r9, r3, r1, r9\n\tldrd r0, r1, [r12], #8\n\t" \
  "smlad r6, r2, r0, r6\n\tsmlad r10, r3, r0, r10\n\t"                         \
  "smlad r7, r2, r1, r7\n\tsmlad r11, r3, r1, r11\n\t"
// The first step, with all sums in r4 and r8.
#define FIRST_STEP(UNPACK)                                                      \
  "ldr r2, [lr], #4\n\tldrd r0, r1, [r12], #8\n\t" UNPACK                       \
  "smlad r5, r2, r1, r4\n\tsmlad r9, r3, r1, r8\n\tldrd r10, r1, [r12], #8\n\t" \
  "smlad r6, r2, r10, r4\n\tsmlad r10, r3, r10, r8\n\t"                         \
  "smlad r7, r2, r1, r4\n\tsmlad r11, r3, r1, r8\n\t"                           \
  "smlad r4, r2, r0, r4\n\tsmlad r8, r3, r0, r8\n\t"
#define STEPS_2(UNPACK) STEP(UNPACK) STEP(UNPACK)
#define STEPS_4(UNPACK) STEPS_2(UNPACK) STEPS_2(UNPACK)

// Of a word of weights the b in r3, and 256 * a + b, or a, in r2; the sums' start; from the sums 2
// * A and 2 * B.
#define UNPACK "sxtb16 r3, r2\n\t"
#define BEGIN "add r4, r8, r4, lsl #8\n\t"
#define SPLIT(P, L) "sub " P ", " P ", " L "\n\tlsl " L ", " L ", #1\n\tasr " P ", " P ", #7\n\t"
#define UNPACK_WIDE "sxtb16 r3, r2\n\tsxtb16 r2, r2, ror #8\n\t"
#define BEGIN_WIDE ""
#define SPLIT_WIDE(P, L) "lsl " L ", " L ", #1\n\tlsl " P ", " P ", #1\n\t"

// pl_narrow_dsp; the first where the zero point is -128. r0: multiplier, r1: (2 * zero_point + 1)
// << right, r2: right.
#define HIGH_LOWEST(X) "smmlar " X ", " X ", r0, r1\n\t"
#define HIGH(X) "add r3, r1, " X ", asr #31\n\tsmmlar " X ", " X ", r0, r3\n\t"
#define NARROW(X) "asr " X ", " X ", r2\n\tssat " X ", #8, " X ", asr #1\n\t"
#define FACTORS(AT) "ldrd r0, r2, [r12, #" AT "]\n\tlsl r1, r3, r2\n\t"

// The eight results, from the sums. r3: 2 * zero_point + 1, which HIGH overwrites, r12: factors.
// clang-format off: what it makes of this it formats anew.
#define OUTPUTS(HIGH, AGAIN)                                        \
  FACTORS("8")                                                      \
  HIGH("r4") HIGH("r5") HIGH("r6") HIGH("r7")                       \
  NARROW("r4") NARROW("r5") NARROW("r6") NARROW("r7")               \
  AGAIN                                                             \
  FACTORS("16")                                                     \
  HIGH("r8") HIGH("r9") HIGH("r10") HIGH("r11")                     \
  NARROW("r8") NARROW("r9") NARROW("r10") NARROW("r11")
// clang-format on

// On the stack: the block.
#define FOUR_ROWS(NAME, UNPACK, BEGIN, SPLIT)                                                       \
  static __attribute__((naked, noinline)) void NAME(                                                \
      __attribute__((unused)) const block *b, __attribute__((unused)) const int8_t *weight) {       \
    __asm__ volatile(                                                                             \
        "push {r3-r11, lr}\n\tsub sp, sp, #32\n\tmov lr, r1\n\t"                                  \
        "ldm r0, {r4-r11}\n\tstm sp, {r4-r11}\n\t"                                                \
        "1:\n\tldr r0, [sp, #16]\n\tldr r12, [sp]\n\tldrd r4, r8, [r0]\n\t"                          \
        BEGIN FIRST_STEP(UNPACK) STEP(UNPACK) "ldr r3, [sp, #4]\n\tcmp r12, r3\n\tbeq 3f\n\t"                   \
        "2:\n\t" STEPS_4(UNPACK) STEPS_4(UNPACK) "ldr r3, [sp, #4]\n\tcmp r12, r3\n\tbne 2b\n\t"                  \
        "3:\n\tldr r3, [sp, #24]\n\ttst r3, #4\n\tbeq 4f\n\t" STEPS_4(UNPACK)               \
        "ldr r3, [sp, #24]\n\t4:\n\ttst r3, #2\n\tbeq 5f\n\t" STEPS_2(UNPACK)                             \
        "5:\n\tldr r12, [sp, #16]\n\t"                                                            \
        SPLIT("r4", "r8") SPLIT("r5", "r9") SPLIT("r6", "r10") SPLIT("r7", "r11")                 \
        "ldr r3, [sp, #28]\n\tcmn r3, #255\n\tbne 7f\n\t" OUTPUTS(HIGH_LOWEST, "")                   \
        "6:\n\tldrd r0, r1, [sp, #8]\n\tldr r3, [sp, #20]\n\tadd r12, r12, #24\n\t"            \
        "strb r8, [r0, #1]\n\tstrb r4, [r0], #2\n\tstr r0, [sp, #8]\n\tadd r0, r0, r1\n\t"        \
        "strb r5, [r0, #-2]\n\tstrb r9, [r0, #-1]\n\tadd r0, r0, r1\n\t"                          \
        "strb r6, [r0, #-2]\n\tstrb r10, [r0, #-1]\n\tadd r0, r0, r1\n\t"                         \
        "strb r7, [r0, #-2]\n\tstrb r11, [r0, #-1]\n\t"                                           \
        "subs r3, r3, #1\n\tstrd r12, r3, [sp, #16]\n\tbne 1b\n\t"                                \
        "add sp, sp, #32\n\tpop {r3-r11, pc}\n\t"                                               \
        "7:\n\t" OUTPUTS(HIGH, "ldr r3, [sp, #28]\n\t") "b 6b\n\t"); \
  }
FOUR_ROWS(four_rows, UNPACK, BEGIN, SPLIT)
FOUR_ROWS(four_rows_wide, UNPACK_WIDE, BEGIN_WIDE, SPLIT_WIDE)

// Inlined with one of the functions above: what a program does not call is not linked.
typedef void four_rows_function(const block *b, const int8_t *weight);
#define INLINE static inline __attribute__((always_inline))

INLINE void multiply_4_rows(const pl_gemm_pairs_s8 *layer, const uint32_t *x, int8_t *y,
                            int32_t y_stride, four_rows_function *multiply) {
  const int32_t pairs = layer->channels / 2;
  const int32_t rest = (layer->steps - 2) & 6;
  block b = {
      .x = x,
      .x_end = x + PL_PAIRS_ROWS * (layer->steps - rest),
      .y = y,
      .y_stride = y_stride,
      .factors = layer->factors,
      .pairs = pairs,
      .rest = rest,
      .twice_zero_point_and_1 = 2 * layer->zero_point + 1,
  };
  if (pairs > 0) multiply(&b, layer->weight);
  if ((layer->channels & 1) == 0) return;
  int8_t last[2 * PL_PAIRS_ROWS];  // of the channel without a partner, and of nothing
  b.y = last;
  b.y_stride = 2;
  b.factors += 6 * pairs;
  b.pairs = 1;
  multiply(&b, layer->weight + 4 * pairs * layer->steps);
  for (int32_t row = 0; row < PL_PAIRS_ROWS; ++row) {
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the assembly wrote it
    y[row * y_stride + layer->channels - 1] = last[2 * row];
  }
}

// ---- One row ------------------------------------------------------------------------------------
// Every weight is used once. LDM, which GCC does not make, brings four words in one instruction.

#define PRODUCTS(V, X) \
  "smlad %[p], " V ", " X ", %[p]\n\tsxtb16 " V ", " V "\n\tsmlad %[l], " V ", " X ", %[l]\n\t"
#define PRODUCTS_WIDE(V, X)                                               \
  "sxtb16 r9, " V "\n\tsxtb16 " V ", " V ", ror #8\n\tsmlad %[l], r9, " X \
  ", %[l]\n\t"                                                            \
  "smlad %[p], " V ", " X ", %[p]\n\t"
#define STEPS_2_OF_1(PRODUCTS) \
  "ldm %[x]!, {r0, r1}\n\tldm %[v]!, {r4, r5}\n\t" PRODUCTS("r4", "r0") PRODUCTS("r5", "r1")
#define STEPS_4_OF_1(PRODUCTS)                                                          \
  "ldm %[x]!, {r0, r1, r2, r3}\n\tldm %[v]!, {r4, r5, r6, r8}\n\t" PRODUCTS("r4", "r0") \
      PRODUCTS("r5", "r1") PRODUCTS("r6", "r2") PRODUCTS("r8", "r3")
#define STEPS_16_OF_1(PRODUCTS) \
  STEPS_4_OF_1(PRODUCTS) STEPS_4_OF_1(PRODUCTS) STEPS_4_OF_1(PRODUCTS) STEPS_4_OF_1(PRODUCTS)
#define MULTIPLY_UNTIL(END, STEPS)                                                      \
  for (const uint32_t *end = (END); x != end;) {                                        \
    __asm__ volatile(STEPS /* NOLINT(bugprone-macro-parentheses): no expression */      \
                     : [p] "+r"(p), [l] "+r"(l), [x] "+r"(x), [v] "+r"(v)               \
                     :                                                                  \
                     : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "memory"); \
  }

INLINE void multiply_1_row(const pl_gemm_pairs_s8 *layer, const uint32_t *row, int8_t *y,
                           int is_wide) {
  const int32_t offset = 2 * layer->zero_point + 1;
  const int8_t *v = layer->weight;
  const int32_t *factors = layer->factors;
  for (int32_t left = layer->channels; left > 0; left -= 2) {
    const uint32_t *x = row;
    uint32_t l = (uint32_t)factors[1];
    uint32_t p = (uint32_t)factors[0];
    int32_t twice_a;
    if (is_wide) {
      MULTIPLY_UNTIL(row + (layer->steps & ~15), STEPS_16_OF_1(PRODUCTS_WIDE))
      MULTIPLY_UNTIL(row + layer->steps, STEPS_2_OF_1(PRODUCTS_WIDE))
      twice_a = (int32_t)(p << 1);
    } else {
      p = (p << 8) + l;
      MULTIPLY_UNTIL(row + (layer->steps & ~15), STEPS_16_OF_1(PRODUCTS))
      MULTIPLY_UNTIL(row + layer->steps, STEPS_2_OF_1(PRODUCTS))
      twice_a = (int32_t)(p - l) >> 7;
    }
    y[0] = pl_narrow_dsp(twice_a, factors[2], factors[3], offset);
    if (left > 1) y[1] = pl_narrow_dsp((int32_t)(l << 1), factors[4], factors[5], offset);
    y += 2;
    factors += 6;
  }
}

void pl_multiply_pairs_s8(const pl_gemm_pairs_s8 *layer, int32_t rows, const uint32_t *x, int8_t *y,
                          int32_t y_stride) {
  if (rows == PL_PAIRS_ROWS) {
    multiply_4_rows(layer, x, y, y_stride, four_rows);
  } else {
    multiply_1_row(layer, x, y, 0);
  }
}

void pl_multiply_wide_pairs_s8(const pl_gemm_pairs_s8 *layer, int32_t rows, const uint32_t *x,
                               int8_t *y, int32_t y_stride) {
  if (rows == PL_PAIRS_ROWS) {
    multiply_4_rows(layer, x, y, y_stride, four_rows_wide);
  } else {
    multiply_1_row(layer, x, y, 1);
  }
}
