// SPDX-License-Identifier: Apache-2.0
// Rows are widened as in kernels/common/gemm_pairs_s8.h, four steps per word of weights. Step s
// uses the word shifted by 4 * s: its weights are the upper four bits of the two halves. An AND
// thus yields two weights, times 4096. A group of up to 504 keeps the sum in 32 bits.
#include "kernels/common/optimized.h"

#include "kernels/common/clamp_s8.h"
#include "kernels/common/gemm_pairs_s8.h"
#include "kernels/common/types.h"
#include "kernels/linear/linear_w4.h"

#define WEIGHTS 8
#define STEPS 4
#define MASK 0xF000F000U

// Two words loaded by LDRD.
typedef struct {
  int32_t first;
  int32_t second;
} two;

typedef struct {
  int32_t channels;
  two words;  // words of a channel's weights, of those of a group
  int32_t groups;
  int32_t offset;  // 2 * output_zero_point + 1
  const uint32_t *weight;
  const int8_t *scale;
  const int32_t *factors;
  const uint32_t *steps;
} layer;

#ifdef __clang__
// It keeps a register for itself, and one for each operand in memory.

// The groups of one channel and one of `lanes` rows.
static int32_t multiply_one(const layer *of, const uint32_t *w, const int8_t *scale,
                            const uint32_t *x, int32_t lanes, int32_t start) {
  uint32_t sum = (uint32_t)start;
  for (int32_t left = of->words.first; left > 0; left -= of->words.second) {
    int32_t products = 0;
    for (int32_t i = left < of->words.second ? left : of->words.second; i > 0; --i) {
      uint32_t word = *w++;
      for (int32_t step = STEPS; step > 0; --step, word <<= 4, x += lanes) {
        products = __smlad((int16x2_t)(word & MASK), (int16x2_t)*x, products);
      }
    }
    const int32_t factor = *scale++ * (1 << 20);
    sum += (uint32_t)(((int64_t)products * factor) >> 32);
  }
  return (int32_t)sum;
}

static void multiply_lanes(const layer *of, int8_t *y, int32_t lanes) {
  for (int32_t row = 0; row < lanes; ++row) {
    for (int32_t i = 0; i < of->channels; ++i) {
      const int32_t *factors = of->factors + 3 * i;
      const int32_t sum =
          multiply_one(of, of->weight + i * of->words.first, of->scale + i * of->groups,
                       of->steps + row, lanes, factors[0]);
      y[row * of->channels + i] = pl_narrow_dsp(2 * sum, factors[1], factors[2], of->offset);
    }
  }
}

static void multiply_row(const layer *of, int8_t *y) { multiply_lanes(of, y, 1); }
static void multiply_rows(const layer *of, int8_t *y) { multiply_lanes(of, y, PL_PAIRS_ROWS); }
#else
// Assembly, because GCC makes no LDM of four. Around a loop with all registers in use it makes
// twice as many loads and stores.
//
// For each group of input channels, multiply words in twos. If the count is odd, the first word is
// separate. The last group may have fewer words. Then BY_SCALE adds the products to the sums.
#define GROUPS(BEGIN, WORD, BY_SCALE)                                                   \
  "1:\n\t"                                                                              \
  "ldrd r0, %[count], %[left]\n\tsubs r0, %[count]\n\tit mi\n\taddmi %[count], r0\n\t"  \
  "str r0, %[left]\n\t" BEGIN "tst %[count], #1\n\tbne 3f\n\t2:\n\t" WORD "3:\n\t" WORD \
  "subs %[count], #2\n\tbgt 2b\n\t" BY_SCALE "ldr r0, %[left]\n\tcmp r0, #0\n\tbgt 1b"
#define CHANGED "r0", "r1", "r2", "r3", "r4", "r5", "cc", "memory"

// Two weights of a word times a step X.
#define UNPACK(SHIFT) "and r5, %[mask], r4" SHIFT "\n\t"
#define ADD(SUM, X) "smlad %[" SUM "], r5, " X ", %[" SUM "]\n\t"
#define CLEAR(SUM) "mov %[" SUM "], #0\n\t"
// A sum times a scale of 2^20, in the upper 32 bits.
#define SCALED(X, SUM, SCALE) "smmla " X ", %[" SUM "], " SCALE ", " X "\n\t"

// ---- One row, two channels ----------------------------------------------------------------------

#define EIGHT_OF_ROW(W, SUM)                                                               \
  "ldr r4, [%[" W "]], #4\n\t" UNPACK("") ADD(SUM, "r0") UNPACK(", lsl #4") ADD(SUM, "r1") \
      UNPACK(", lsl #8") ADD(SUM, "r2") UNPACK(", lsl #12") ADD(SUM, "r3")
#define WORD_OF_ROW "ldm %[x]!, {r0, r1, r2, r3}\n\t" EIGHT_OF_ROW("u", "a") EIGHT_OF_ROW("v", "b")
#define SCALE_ROW                                                                     \
  "ldrd r0, r1, %[scales]\n\tldrsb r2, [r0], #1\n\tldrsb r3, [r1], #1\n\t"            \
  "strd r0, r1, %[scales]\n\tldrd r0, r1, %[sums]\n\tlsl r2, r2, #20\n\tlsl r3, r3, " \
  "#20\n\t" SCALED("r0", "a", "r2") SCALED("r1", "b", "r3") "strd r0, r1, %[sums]\n\t"

static void multiply_row(const layer *of, int8_t *y) {
  const uint32_t *v = of->weight;
  const int8_t *scale = of->scale;
  const int32_t *factors = of->factors;
  for (int32_t left = of->channels; left > 0; left -= 2) {
    // The last channel may have no partner but itself.
    const uint32_t *u = v;
    const int32_t *const factors_u = factors;
    const int8_t *scales[2] = {scale, scale};
    if (left > 1) {
      v += of->words.first;
      scale += of->groups;
      scales[1] = scale;
      factors += 3;
    }
    two sums = {factors_u[0], factors[0]};
    two words = of->words;
    const uint32_t *x = of->steps;
    int32_t a;
    int32_t b;
    int32_t count;
    __asm__ volatile(
        GROUPS(CLEAR("a") CLEAR("b"), WORD_OF_ROW, SCALE_ROW)
        : [x] "+r"(x), [u] "+r"(u), [v] "+r"(v), [a] "=&r"(a), [b] "=&r"(b), [count] "=&r"(count),
          [left] "+m"(words), [scales] "+m"(scales), [sums] "+m"(sums)
        : [mask] "r"(MASK)
        : CHANGED);
    *y++ = pl_narrow_dsp(2 * sums.first, factors_u[1], factors_u[2], of->offset);
    if (left > 1) *y++ = pl_narrow_dsp(2 * sums.second, factors[1], factors[2], of->offset);
    scale += of->groups;
    factors += 3;
  }
}

// ---- Four rows, one channel ---------------------------------------------------------------------

#define STEP(SHIFT) \
  UNPACK(SHIFT)     \
  "ldm %[x]!, {r0, r1, r2, r3}\n\t" ADD("a", "r0") ADD("b", "r1") ADD("c", "r2") ADD("d", "r3")
#define WORD_OF_ROWS \
  "ldr r4, [%[w]], #4\n\t" STEP("") STEP(", lsl #4") STEP(", lsl #8") STEP(", lsl #12")
#define SCALE_ROWS                                                                    \
  "ldr r0, %[scale]\n\tldrsb r4, [r0], #1\n\tstr r0, %[scale]\n\tlsl r4, r4, #20\n\t" \
  "ldrd r0, r1, %[sums]\n\tldrd r2, r3, %[more]\n\t" SCALED("r0", "a", "r4")          \
      SCALED("r1", "b", "r4") SCALED("r2", "c", "r4")                                 \
          SCALED("r3", "d", "r4") "strd r0, r1, %[sums]\n\tstrd r2, r3, %[more]\n\t"

static void multiply_rows(const layer *of, int8_t *y) {
  const int32_t channels = of->channels;
  const uint32_t *w = of->weight;
  const int8_t *scale = of->scale;
  const int32_t *factors = of->factors;
  for (int8_t *y_end = y + channels; y != y_end; ++y) {
    two sums = {factors[0], factors[0]};
    two more = sums;
    two words = of->words;
    const uint32_t *x = of->steps;
    int32_t a;
    int32_t b;
    int32_t c;
    int32_t d;
    int32_t count;
    __asm__ volatile(GROUPS(CLEAR("a") CLEAR("b") CLEAR("c") CLEAR("d"), WORD_OF_ROWS, SCALE_ROWS)
                     : [x] "+r"(x), [w] "+r"(w), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c),
                       [d] "=&r"(d), [count] "=&r"(count), [left] "+m"(words), [scale] "+m"(scale),
                       [sums] "+m"(sums), [more] "+m"(more)
                     : [mask] "r"(MASK)
                     : CHANGED);
    const int32_t multiplier = factors[1];
    const int32_t right = factors[2];
    y[0] = pl_narrow_dsp(2 * sums.first, multiplier, right, of->offset);
    y[channels] = pl_narrow_dsp(2 * sums.second, multiplier, right, of->offset);
    y[2 * channels] = pl_narrow_dsp(2 * more.first, multiplier, right, of->offset);
    y[3 * channels] = pl_narrow_dsp(2 * more.second, multiplier, right, of->offset);
    factors += 3;
  }
}
#endif

pl_status pl_linear_w4_pairs_s8(const pl_context *ctx, const pl_linear_w4_params *params,
                                const pl_linear_w4_dims *dims, const pl_linear_w4_data *data) {
  const int32_t depth = dims->input_channels;
  const int32_t channels = dims->output_channels;
  const int32_t lanes = dims->rows < PL_PAIRS_ROWS ? 1 : PL_PAIRS_ROWS;
  const int32_t words = (depth + WEIGHTS - 1) / WEIGHTS;
  if (ctx->scratch_size < (uint32_t)(4 * lanes * STEPS * words)) return PL_ERROR_SCRATCH_SIZE;
  const layer of = {
      .channels = channels,
      .words = {words, dims->group / WEIGHTS},
      .groups = (depth + dims->group - 1) / dims->group,
      .offset = 2 * params->output_zero_point + 1,
      .weight = (const void *)data->weight,
      .scale = data->group_scale,
      .factors = data->bias,
      .steps = ctx->scratch,
  };
  const int8_t *x = data->input;
  int8_t *y = data->output;
  int32_t rows = dims->rows;
  for (; rows >= PL_PAIRS_ROWS; rows -= PL_PAIRS_ROWS) {
    pl_widen_row_4_s8(x, depth, ctx->scratch);
    multiply_rows(&of, y);
    x += PL_PAIRS_ROWS * depth;
    y += PL_PAIRS_ROWS * channels;
  }
  for (; rows > 0; --rows) {
    pl_widen_row_s8(x, depth, ctx->scratch);
    multiply_row(&of, y);
    x += depth;
    y += channels;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, dims->rows * channels, params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}
