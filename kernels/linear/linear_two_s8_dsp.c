// SPDX-License-Identifier: Apache-2.0
// Two channels of many rows. There are too few channels to widen rows first. There are enough rows
// to share the loaded weights. The weights are int16, so that none is unpacked. Four values of two
// rows take 15 instructions; linear_few_s8_dsp.c takes 19. The tail after groups of four is one
// more group, with zeros for the missing weights.
#include "kernels/common/optimized.h"

#include "kernels/common/clamp_s8.h"
#include "kernels/common/gemm_pairs_s8.h"
#include "kernels/linear/linear.h"

#define ROWS 2

// Four values of a row. One channel has its weights in r4 and r5, the other in r6 and r8.
#define FOUR(LOAD, A, B)                                                  \
  LOAD "sxtb16 r1, r0, ror #8\n\tsxtb16 r0, r0\n\t"                       \
       "smlad %[" A "], r4, r0, %[" A "]\n\tsmlad %[" B "], r6, r0, %[" B \
       "]\n\t"                                                            \
       "smlad %[" A "], r5, r1, %[" A "]\n\tsmlad %[" B "], r8, r1, %[" B "]\n\t"
#define FOURS_1                                                                     \
  "ldm %[v]!, {r4, r5, r6, r8}\n\t" FOUR("ldr r0, [%[x], %[step]]\n\t", "a1", "b1") \
      FOUR("ldr r0, [%[x]], #4\n\t", "a0", "b0")
#define FOURS_4 FOURS_1 FOURS_1 FOURS_1 FOURS_1

typedef struct {
  uint32_t a0, b0, a1, b1;
} sums;

// Together with its loop this takes fourteen registers, all there are.
#define MULTIPLY(FOURS)                                                                      \
  __asm__ volatile(FOURS /* NOLINT(bugprone-macro-parentheses): no expression */             \
                   : [a0] "+r"(of.a0), [b0] "+r"(of.b0), [a1] "+r"(of.a1), [b1] "+r"(of.b1), \
                     [x] "+r"(x), [v] "+r"(v)                                                \
                   : [step] "r"(step)                                                        \
                   : "r0", "r1", "r4", "r5", "r6", "r8", "memory")

// Two rows, `step` apart; `last` has the tail of each after groups of four.
static sums multiply(const int8_t *row, int32_t step, int32_t depth, const int8_t *last,
                     const int8_t *v, sums of) {
  const int8_t *x = row;
  for (const int8_t *end = row + (depth & ~15); x != end;) MULTIPLY(FOURS_4);
  for (const int8_t *end = row + (depth & ~3); x != end;) MULTIPLY(FOURS_1);
  if ((depth & 3) != 0) {
    x = last;
    step = 4;
    MULTIPLY(FOURS_1);
  }
  return of;
}

static inline int8_t narrow(uint32_t sum, const int32_t *factor, int32_t offset) {
  return pl_narrow_dsp((int32_t)(sum << 1), factor[0], factor[1], offset);
}

pl_status pl_linear_two_s8(const pl_context *ctx, const pl_linear_params *params,
                           const pl_linear_dims *dims, const pl_linear_data *data) {
  (void)ctx;
  const int32_t depth = dims->input_channels;
  const int32_t offset = 2 * params->output_zero_point + 1;
  const int32_t *factors = data->bias;
  const uint32_t a = (uint32_t)factors[0];
  const uint32_t b = (uint32_t)factors[1];
  const int8_t *row = data->input;
  int8_t *y = data->output;
  for (int32_t rows = dims->rows; rows > 0; rows -= ROWS) {
    // A row without another is multiplied with itself.
    const int32_t step = rows < ROWS ? 0 : depth;
    int8_t last[4 * ROWS] = {0};
    for (int32_t i = depth & ~3; i < depth; ++i) {
      last[i & 3] = row[i];
      last[4 + (i & 3)] = row[i + step];
    }
    const sums of = multiply(row, step, depth, last, data->weight, (sums){a, b, a, b});
    y[0] = narrow(of.a0, factors + 2, offset);
    y[1] = narrow(of.b0, factors + 4, offset);
    if (rows >= ROWS) {
      y[2] = narrow(of.a1, factors + 2, offset);
      y[3] = narrow(of.b1, factors + 4, offset);
    }
    row += ROWS * depth;
    y += 4;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, 2 * dims->rows, params->activation_min, params->activation_max);
  }
  return PL_OK;
}
