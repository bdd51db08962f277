// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/optimized.h"

#include "kernels/common/gemm_pairs_s8.h"

#include "kernels/common/types.h"

// ---- Steps --------------------------------------------------------------------------------------

void pl_widen_s8(const int8_t *x, int32_t runs, int32_t run_step, int32_t count, uint32_t *to,
                 int32_t lanes) {
  const int32_t fours = count & ~3;
  const int8_t *run = x;
  for (int32_t left = runs; left > 0; --left) {
    const int8_t *from = run;
    for (const int8_t *end = from + fours; from != end;) {
      const int8x4_t four = pl_load_4(from);
      to[0] = (uint32_t)pl_even_s16(four);
      to[lanes] = (uint32_t)pl_odd_s16(four);
      from += 4;
      to += 2 * lanes;
    }
    run += run_step;
  }
  if ((count & 2) != 0) {
    run = x + fours;
    for (int32_t left = runs; left > 0; --left) {
      to[0] = pl_two_s16(run[0], run[1]);
      run += run_step;
      to += lanes;
    }
  }
  if ((count & 1) == 0) return;
  const int8_t *last = x + count - 1;
  for (; runs > 1; runs -= 2) {
    to[0] = pl_two_s16(last[0], last[run_step]);
    last += 2 * run_step;
    to += lanes;
  }
  if (runs == 1) to[0] = (uint32_t)last[0];
}

// A step of four rows, x_stride apart: a value and another. Returns where the next goes.
static inline uint32_t *widen_twos(const int8_t *a, const int8_t *b, int32_t x_stride,
                                   uint32_t *to) {
  to[0] = pl_two_s16(a[0], b[0]);
  to[1] = pl_two_s16(a[x_stride], b[x_stride]);
  to[2] = pl_two_s16(a[2 * x_stride], b[2 * x_stride]);
  to[3] = pl_two_s16(a[3 * x_stride], b[3 * x_stride]);
  return to + PL_PAIRS_ROWS;
}

void pl_widen_4_s8(const int8_t *x, int32_t x_stride, int32_t runs, int32_t run_step, int32_t count,
                   uint32_t *to) {
  const int32_t fours = count & ~3;
  const int8_t *run = x;
  for (int32_t left = runs; left > 0; --left) {
    to = pl_widen_fours_s8(run, x_stride, run + fours, to);
    run += run_step;
  }
  if ((count & 2) != 0) {
    run = x + fours;
    for (int32_t left = runs; left > 0; --left) {
      to = widen_twos(run, run + 1, x_stride, to);
      run += run_step;
    }
  }
  if ((count & 1) == 0) return;
  const int8_t *last = x + count - 1;
  for (; runs > 1; runs -= 2) {
    to = widen_twos(last, last + run_step, x_stride, to);
    last += 2 * run_step;
  }
  if (runs == 1) {
    to[0] = (uint32_t)last[0];
    to[1] = (uint32_t)last[x_stride];
    to[2] = (uint32_t)last[2 * x_stride];
    to[3] = (uint32_t)last[3 * x_stride];
  }
}

// ---- Four rows ----------------------------------------------------------------------------------
// LDR, SXTB16, two LDRD and eight SMLAD are twelve instructions for 16 products, and use every
// register. Around an assembly loop GCC spills, so these functions are completely in assembly.

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
#define STEPS_4(UNPACK) STEP(UNPACK) STEP(UNPACK) STEP(UNPACK) STEP(UNPACK)
#define STEPS_16(UNPACK) STEPS_4(UNPACK) STEPS_4(UNPACK) STEPS_4(UNPACK) STEPS_4(UNPACK)

// UNPACK: from a word of weights, b in r3, and 256 * a + b, or a, in r2. SPLIT: from the sums, 2 *
// A and 2 * B.
#define UNPACK "sxtb16 r3, r2\n\t"
#define SPLIT(P, L) "sub " P ", " P ", " L "\n\tlsl " L ", " L ", #1\n\tasr " P ", " P ", #7\n\t"
#define UNPACK_WIDE "sxtb16 r3, r2\n\tsxtb16 r2, r2, ror #8\n\t"
#define SPLIT_WIDE(P, L) "lsl " L ", " L ", #1\n\tlsl " P ", " P ", #1\n\t"

// pl_narrow_dsp; the first where the zero point is -128. r3: multiplier, r1: (2 * zero_point + 1)
// << right, r2: right.
#define HIGH_LOWEST(X) "smmlar " X ", " X ", r3, r1\n\t"
#define HIGH(X) "add r0, r1, " X ", asr #31\n\tsmmlar " X ", " X ", r3, r0\n\t"
#define NARROW(X) "asr " X ", " X ", r2\n\tssat " X ", #8, " X ", asr #1\n\t"
#define FACTORS(AT) "ldrd r3, r2, [r12, #" AT "]!\n\tlsl r1, r0, r2\n\t"

// The eight results, from the sums. r0: 2 * zero_point + 1, which HIGH overwrites, r12: factors.
// clang-format off: its output here is not stable.
#define OUTPUTS(HIGH, AGAIN)                                        \
  FACTORS("16")                                                     \
  HIGH("r4") HIGH("r5") HIGH("r6") HIGH("r7")                       \
  NARROW("r4") NARROW("r5") NARROW("r6") NARROW("r7")               \
  AGAIN                                                             \
  FACTORS("8")                                                      \
  HIGH("r8") HIGH("r9") HIGH("r10") HIGH("r11")                     \
  NARROW("r8") NARROW("r9") NARROW("r10") NARROW("r11")

// Stores a channel's results for four rows; r0: y, r1: y_stride, r2: three times that.
#define STORE(A, B, C, D)                                           \
  "strb " D ", [r0, r2]\n\tstrb " C ", [r0, r1, lsl #1]\n\t"        \
  "strb " B ", [r0, r1]\n\tstrb " A ", [r0], #1\n\t"
// clang-format on

// Stack: 2 * zero_point + 1; y; the pair's factors, less 8 bytes; the address of the output code;
// y_stride; the end of the factors, less 8; x and its end. Then the address of the first of the
// sixteen steps to run (each has SIZE bytes), and three times y_stride.
#define FOUR_ROWS(NAME, SIZE, UNPACK, SPLIT)                                                        \
  static __attribute__((naked, noinline)) void NAME(                                                \
      __attribute__((unused)) const pl_gemm_pairs_s8 *layer, __attribute__((unused)) int8_t *y) {   \
    __asm__ volatile(                                                                             \
        "push {r3-r11, lr}\n\tsub sp, sp, #40\n\tldm r0, {r4, r6-r11, lr}\n\tmov r5, r1\n\t"      \
        "adr.w r0, 3f+1\n\tmov r1, #" SIZE "\n\tmls r0, r1, r7, r0\n\t"                          \
        "add r1, r8, r8, lsl #1\n\tstrd r0, r1, [sp, #32]\n\t"                                    \
        "adr.w r7, 6f+1\n\tcmn r4, #255\n\tbeq 4f\n\tadr.w r7, 7f+1\n\t"                        \
        "4:\n\tsub r6, r6, #8\n\tsub r9, r9, #8\n\tstm sp, {r4-r11}\n\tmov r12, r6\n\t"          \
        "1:\n\tldrd r4, r8, [r12, #8]\n\tldr r12, [sp, #24]\n\t" FIRST_STEP(                      \
            UNPACK) "ldr pc, [sp, #32]\n\t.balign 4\n\t2:\n\t" STEPS_16(UNPACK)                   \
        "3:\n\tldr r3, [sp, #28]\n\tcmp r12, r3\n\tbne 2b\n\t"                                    \
        SPLIT("r4", "r8") SPLIT("r5", "r9") SPLIT("r6", "r10") SPLIT("r7", "r11")                 \
        "ldm sp, {r0, r1, r12, pc}\n\t"                                                           \
        "6:\n\t" OUTPUTS(HIGH_LOWEST, "")                                                         \
        "5:\n\tldr r0, [sp, #4]\n\tldrd r1, r3, [sp, #16]\n\tldr r2, [sp, #36]\n\t"                                    \
        STORE("r4", "r5", "r6", "r7") STORE("r8", "r9", "r10", "r11")                             \
        "strd r0, r12, [sp, #4]\n\tcmp r12, r3\n\tbne 1b\n\t"                                     \
        "add sp, sp, #40\n\tpop {r3-r11, pc}\n\t"                                                 \
        "7:\n\t" OUTPUTS(HIGH, "ldr r0, [sp]\n\t") "b 5b\n\t"); \
  }
FOUR_ROWS(four_rows, "48", UNPACK, SPLIT)
FOUR_ROWS(four_rows_wide, "52", UNPACK_WIDE, SPLIT_WIDE)

// Inlined with one of the functions above, so functions not called by a program are not linked.
typedef void four_rows_function(const pl_gemm_pairs_s8 *layer, int8_t *y);
#define NOINLINE static __attribute__((noinline))

PL_INLINE void multiply_odd_channels(const pl_gemm_pairs_s8 *layer, int8_t *y,
                                     four_rows_function *multiply) {
  const int32_t pairs = layer->channels / 2;
  if (pairs > 0) multiply(layer, y);
  int8_t last[2 * PL_PAIRS_ROWS];  // of the channel without a partner, and unused results
  pl_gemm_pairs_s8 rest = *layer;
  rest.y_stride = 2;
  rest.factors = layer->factors_end;
  rest.factors_end += 6;
  rest.weight +=
      pairs * (int32_t)((const int8_t *)layer->x_end - (const int8_t *)layer->x) / PL_PAIRS_ROWS;
  multiply(&rest, last);
  for (int32_t row = 0; row < PL_PAIRS_ROWS; ++row) {
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the assembly wrote it
    y[row * layer->y_stride + layer->channels - 1] = last[2 * row];
  }
}

// ---- One row ------------------------------------------------------------------------------------
// Every weight is used once. LDM loads four words in one instruction; GCC does not emit it.

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

PL_INLINE void multiply_1_row(const pl_gemm_pairs_s8 *layer, int8_t *y, int is_wide) {
  const int32_t offset = layer->twice_zero_point_and_1;
  const int32_t steps = (layer->x_end - layer->x) / PL_PAIRS_ROWS;
  const int8_t *v = layer->weight;
  const int32_t *factors = layer->factors;
  for (int32_t left = layer->channels; left > 0; left -= 2) {
    const uint32_t *x = layer->x;
    uint32_t l = (uint32_t)factors[1];
    uint32_t p = (uint32_t)factors[0];
    int32_t twice_a;
    if (is_wide) {
      MULTIPLY_UNTIL(layer->x + (steps & ~15), STEPS_16_OF_1(PL_PRODUCTS_WIDE))
      MULTIPLY_UNTIL(layer->x + steps, STEPS_2_OF_1(PL_PRODUCTS_WIDE))
      twice_a = (int32_t)(p << 1);
    } else {
      MULTIPLY_UNTIL(layer->x + (steps & ~15), STEPS_16_OF_1(PL_PRODUCTS))
      MULTIPLY_UNTIL(layer->x + steps, STEPS_2_OF_1(PL_PRODUCTS))
      twice_a = (int32_t)(p - l) >> 7;
    }
    y[0] = pl_narrow_dsp(twice_a, factors[2], factors[3], offset);
    if (left > 1) y[1] = pl_narrow_dsp((int32_t)(l << 1), factors[4], factors[5], offset);
    y += 2;
    factors += 6;
  }
}

// Separate functions, so a caller with four rows saves no registers.
NOINLINE void one_row(const pl_gemm_pairs_s8 *layer, int8_t *y) { multiply_1_row(layer, y, 0); }
NOINLINE void one_row_wide(const pl_gemm_pairs_s8 *layer, int8_t *y) {
  multiply_1_row(layer, y, 1);
}
NOINLINE void odd_channels(const pl_gemm_pairs_s8 *layer, int8_t *y) {
  multiply_odd_channels(layer, y, four_rows);
}
NOINLINE void odd_channels_wide(const pl_gemm_pairs_s8 *layer, int8_t *y) {
  multiply_odd_channels(layer, y, four_rows_wide);
}

void pl_multiply_alone_s8(const pl_gemm_pairs_s8 *layer, int8_t *y) {
  const int32_t steps = (layer->x_end - layer->x) / PL_PAIRS_ROWS;
  const uint32_t *x = layer->x;
  const int8_t *v = layer->weight;
  uint32_t p = (uint32_t)layer->factors[0];
  uint32_t l = 0;
  MULTIPLY_UNTIL(layer->x + (steps & ~15), STEPS_16_OF_1(PL_PRODUCT_ALONE))
  MULTIPLY_UNTIL(layer->x + steps, STEPS_2_OF_1(PL_PRODUCT_ALONE))
  *y = pl_narrow_dsp((int32_t)(p << 1), layer->factors[2], layer->factors[3],
                     layer->twice_zero_point_and_1);
}

void pl_multiply_pairs_s8(const pl_gemm_pairs_s8 *layer, int32_t rows, int8_t *y) {
  if (rows != PL_PAIRS_ROWS) {
    one_row(layer, y);
  } else if ((layer->channels & 1) != 0) {
    odd_channels(layer, y);
  } else {
    four_rows(layer, y);
  }
}

void pl_multiply_wide_pairs_s8(const pl_gemm_pairs_s8 *layer, int32_t rows, int8_t *y) {
  if (rows != PL_PAIRS_ROWS) {
    one_row_wide(layer, y);
  } else if ((layer->channels & 1) != 0) {
    odd_channels_wide(layer, y);
  } else {
    four_rows_wide(layer, y);
  }
}
