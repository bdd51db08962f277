// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_taps_s8.h"

// GCC spills the inner loop: 7 instructions for a product in place of 1.94. Therefore these are
// whole functions in assembly. Without noipa GCC takes no register as overwritten.
#define ASSEMBLY __attribute__((naked, noipa))
#define UNUSED __attribute__((unused))  // by C: it is in a register

// Two taps of two rows, r2 and r3, times a word of weights; the sums are r6 and r7.
#define TWO_TAPS(W)                         \
  "muls r2, " W "\n\tmuls r3, " W           \
  "\n\tasrs r2, r2, #16\n\tadcs r6, r2\n\t" \
  "asrs r3, r3, #16\n\tadcs r7, r3\n\t"

// 15 instructions of two bytes.
#define FOUR_TAPS                                            \
  "ldmia r0!, {r2, r3}\n\tldmia r1!, {r4, r5}\n\t" TWO_TAPS( \
      "r4") "ldmia r0!, {r2, r3}\n\t" TWO_TAPS("r5")

#define PUSH_ALL                                                                       \
  ".syntax unified\n\tpush {r4-r7, lr}\n\tmov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\t" \
  "mov r7, r11\n\tpush {r4-r7}\n\t"
#define POP_ALL                                                               \
  "pop {r4-r7}\n\tmov r8, r4\n\tmov r9, r5\n\tmov r10, r6\n\tmov r11, r7\n\t" \
  "pop {r4-r7, pc}\n\t"

// A sum becomes a result, with the limit in r2, high in r3, fine in r4, offset in r5.
#define STAGE(SUM, OUTSIDE, BACK, MORE)                                                           \
  "cmp " SUM ", r2\n\tbhi " OUTSIDE "\n\tlsrs r0, " SUM                                           \
  ", #5\n\tmuls r0, r4\n\tlsrs r0, r0, #11\n\t" MORE(SUM) "muls " SUM ", r3\n\tadds " SUM         \
                                                          ", r0\n\tadds " SUM ", r5\n\tlsrs " SUM \
                                                          ", " SUM ", #24\n\t" BACK ":\n\t"
#define SATURATED(SUM, OUTSIDE, BACK)                                    \
  OUTSIDE ":\n\tasrs " SUM ", " SUM ", #31\n\tldr r0, [sp]\n\tands " SUM \
          ", r0\n\t"                                                     \
          "ldr r0, [sp, #4]\n\teors " SUM ", r0\n\tb " BACK "\n\t"

#define NO_MORE(SUM)

// Sums below `turn` (r10) have another offset (lr).
#define LOAD_TURN "ldmia r1!, {r2, r3}\n\tmov r10, r2\n\tmov lr, r3\n\t"
#define RESTORE_END "ldr r2, [sp, #8]\n\tmov lr, r2\n\t"
#define MORE_TURN(SUM) "cmp " SUM ", r10\n\tbcs 8f\n\tadd r0, lr\n\t8:\n\t"

// Registers: r8 rows, r9 their end, r10 turn, r11 results, r12 where the loop of sixteen taps is
// entered, lr end of the results. On the stack: low ^ top, top, end of the results, y_step.
#define MULTIPLY(PUSH_TERMS, START, SIGNED_LOADS, MORE, RESTORE, POP_TERMS) \
  PUSH_ALL PUSH_TERMS                                                       \
  "ldr r1, [r0, #24]\n\tldr r2, [r0, #28]\n\tldr r3, [r0, #16]\n\tldr r4, [r0, #20]\n\t"       \
  "push {r1-r4}\n\tmov lr, r3\n\tldr r1, [r0]\n\tmov r8, r1\n\tldr r2, [r0, #4]\n\t"           \
  "mov r9, r2\n\tsubs r1, r1, r2\n\tasrs r1, r1, #4\n\tmovs r2, #3\n\tands r1, r2\n\t"         \
  "movs r2, #30\n\tmuls r1, r2\n\tadr r2, 2f\n\tadds r1, r2\n\tmov r12, r1\n\t"                \
  "ldr r1, [r0, #12]\n\tmov r11, r1\n\tldr r1, [r0, #8]\n\t"                                   \
  "1:\n\tldmia r1!, {r6}\n\t" START "mov r0, r8\n\tmov pc, r12\n\t"                             \
  ".p2align 2\n\t2:\n\t" FOUR_TAPS FOUR_TAPS FOUR_TAPS FOUR_TAPS                               \
  "cmp r0, r9\n\tbne 2b\n\t" SIGNED_LOADS "ldmia r1!, {r2-r5}\n\t"                             \
  STAGE("r6", "5f", "3", MORE) STAGE("r7", "6f", "4", MORE)                                    \
  "mov r0, r11\n\tldr r2, [sp, #12]\n\tstrb r6, [r0]\n\tstrb r7, [r0, r2]\n\tadds r0, #1\n\t" \
  "mov r11, r0\n\t" RESTORE "cmp r0, lr\n\tbeq 7f\n\tb 1b\n\t"                                 \
  "7:\n\tadd sp, #16\n\t" POP_TERMS POP_ALL SATURATED("r6", "5", "3b") SATURATED("r7", "6", "4b")

ASSEMBLY void pl_multiply_taps_s8(UNUSED const pl_taps_call *call) {
  __asm__(MULTIPLY("", "mov r7, r6\n\t", "", NO_MORE, "", ""));
}

ASSEMBLY void pl_multiply_signed_taps_s8(UNUSED const pl_taps_call *call) {
  __asm__(MULTIPLY("", "mov r7, r6\n\t", LOAD_TURN, MORE_TURN, RESTORE_END, ""));
}

// The rows' terms are above what MULTIPLY pushes.
ASSEMBLY void pl_multiply_taps_and_terms_s8(UNUSED const pl_taps_call *call) {
  __asm__(
      MULTIPLY("ldr r1, [r0, #32]\n\tldr r2, [r0, #36]\n\tpush {r1, r2}\n\t",
               "ldr r2, [sp, #16]\n\tldr r3, [sp, #20]\n\tadds r7, r6, r3\n\tadds r6, r6, r2\n\t",
               LOAD_TURN, MORE_TURN, RESTORE_END, "add sp, #8\n\t"));
}

// Bytes + 128 of the word r4 become pairs of values, r5 and r4. r6 is 0x00FF00FF, r7 -0x00800080.
#define APART                                                                       \
  "movs r5, r6\n\tands r5, r4\n\tadds r5, r7\n\tlsrs r4, r4, #8\n\tands r4, r6\n\t" \
  "adds r4, r7\n\t"

// Whole words of two aligned rows; at least one.
static ASSEMBLY void expand_words(UNUSED const int8_t *a, UNUSED const int8_t *b,
                                  UNUSED const int8_t *a_end, UNUSED uint32_t *to) {
  __asm__(
      ".syntax unified\n\tpush {r4-r7, lr}\n\tmov r12, r2\n\tldr r6, 2f\n\tldr r7, 3f\n\t"
      "ldr r2, 4f\n\t"
      "1:\n\tldmia r0!, {r4}\n\teors r4, r2\n\t" APART
      "str r5, [r3]\n\tstr r4, [r3, #8]\n\t"
      "ldmia r1!, {r4}\n\teors r4, r2\n\t" APART
      "str r5, [r3, #4]\n\tstr r4, [r3, #12]\n\t"
      "adds r3, #16\n\tcmp r0, r12\n\tbne 1b\n\tpop {r4-r7, pc}\n\t"
      ".p2align 2\n\t2: .word 0x00FF00FF\n\t3: .word 0xFF7FFF80\n\t4: .word 0x80808080\n\t");
}

int32_t pl_expand_weights_s8(const pl_gemm_taps *layer, int32_t channel, uint32_t *to) {
  const int32_t left = layer->channels - channel;
  const int32_t count = left < layer->block ? left : layer->block;
  const int32_t *stage = layer->stage + channel * layer->stage_words;
  const uint32_t *w = (const uint32_t *)(const void *)(layer->weight + channel * layer->depth);
  for (int32_t i = count; i > 0; --i) {
    *to++ = (uint32_t)*stage++;
    for (const uint32_t *end = w + layer->depth / 4; w != end; to += 2) {
      const uint32_t four = *w++;
      to[0] = (four & 0x00FF00FFU) - 0x00800080U;
      to[1] = (four >> 8 & 0x00FF00FFU) - 0x00800080U;
    }
    for (int32_t k = layer->stage_words; k > 1; --k) *to++ = (uint32_t)*stage++;
  }
  return count;
}

static inline uint32_t two(int32_t first, int32_t second) {
  return (uint32_t)first + ((uint32_t)second << 16);
}

// The last values of a row, fewer than four.
static void expand_rest(const int8_t *x, int32_t count, uint32_t *to) {
  to[0] = two(x[0], count > 2 ? x[2] : 0);
  to[2] = two(count > 1 ? x[1] : 0, 0);
}

static void expand_bytes(const int8_t *x, const int8_t *end, uint32_t *to) {
  for (; x != end; x += 4, to += 4) {
    to[0] = two(x[0], x[2]);
    to[2] = two(x[1], x[3]);
  }
}

void pl_expand_rows_s8(const int8_t *a, const int8_t *b, int32_t count, uint32_t *to) {
  const int32_t whole = count & ~3;
  if (whole > 0 && (((uintptr_t)a | (uintptr_t)b) & 3) == 0) {
    expand_words(a, b, a + whole, to);
  } else {
    expand_bytes(a, a + whole, to);
    expand_bytes(b, b + whole, to + 1);
  }
  if (whole != count) {
    expand_rest(a + whole, count - whole, to + whole);
    expand_rest(b + whole, count - whole, to + whole + 1);
  }
}
