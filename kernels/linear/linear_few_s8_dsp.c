// SPDX-License-Identifier: Apache-2.0
// Few channels: inputs are widened during the multiplication. Scratch copies would not be read
// often enough. The tail after groups of four is one more group, with zeros for the missing
// weights.
//
// For sixteen values and two channels GCC makes 48 instructions from C with intrinsics: it makes no
// LDM and moves addresses separately. This assembly takes 40. For wide weights GCC makes 58, and
// this takes 48.
#include "kernels/common/optimized.h"

#include "kernels/common/clamp_s8.h"
#include "kernels/common/gemm_pairs_s8.h"
#include "kernels/linear/linear.h"

// Four values, with the two words of their weights.
#define FOUR(PRODUCTS, V, W)                                                           \
  "ldr r0, [%[x]], #4\n\tsxtb16 r1, r0, ror #8\n\tsxtb16 r0, r0\n\t" PRODUCTS(V, "r0") \
      PRODUCTS(W, "r1")
#define FOURS_1(PRODUCTS) "ldm %[v]!, {r4, r5}\n\t" FOUR(PRODUCTS, "r4", "r5")
#define FOURS_2(PRODUCTS) \
  "ldm %[v]!, {r4, r5, r6, r8}\n\t" FOUR(PRODUCTS, "r4", "r5") FOUR(PRODUCTS, "r6", "r8")
#define FOURS_4(PRODUCTS) FOURS_2(PRODUCTS) FOURS_2(PRODUCTS)

#define MULTIPLY(FOURS)                                                 \
  __asm__ volatile(FOURS /* NOLINT(bugprone-macro-parentheses) */       \
                   : [p] "+r"(p), [l] "+r"(l), [x] "+r"(x), [v] "+r"(v) \
                   :                                                    \
                   : "r0", "r1", "r4", "r5", "r6", "r8", "r9", "memory")
#define MULTIPLY_ROW(PRODUCTS)                                                          \
  for (const int8_t *end = row + (depth & ~15); x != end;) MULTIPLY(FOURS_4(PRODUCTS)); \
  for (const int8_t *end = row + (depth & ~3); x != end;) MULTIPLY(FOURS_1(PRODUCTS));  \
  if ((depth & 3) != 0) {                                                               \
    x = last;                                                                           \
    MULTIPLY(FOURS_1(PRODUCTS));                                                        \
  }

PL_INLINE pl_status run(const pl_linear_params *params, const pl_linear_dims *dims,
                        const pl_linear_data *data, int is_wide) {
  const int32_t depth = dims->input_channels;
  const int32_t offset = 2 * params->output_zero_point + 1;
  const int8_t *row = data->input;
  int8_t *y = data->output;
  for (int32_t rows = dims->rows; rows > 0; --rows) {
    int8_t last[4] = {0};
    for (int32_t i = depth & ~3; i < depth; ++i) last[i & 3] = row[i];
    const int8_t *v = data->weight;
    const int32_t *factors = data->bias;
    for (int32_t left = dims->output_channels; left > 0; left -= 2) {
      const int8_t *x = row;
      uint32_t l = (uint32_t)factors[1];
      uint32_t p = (uint32_t)factors[0];
      int32_t twice_a;
      if (left == 1) {
        MULTIPLY_ROW(PL_PRODUCT_ALONE)
        twice_a = (int32_t)(p << 1);
      } else if (is_wide) {
        MULTIPLY_ROW(PL_PRODUCTS_WIDE)
        twice_a = (int32_t)(p << 1);
      } else {
        MULTIPLY_ROW(PL_PRODUCTS)
        twice_a = (int32_t)(p - l) >> 7;
      }
      *y++ = pl_narrow_dsp(twice_a, factors[2], factors[3], offset);
      if (left > 1) *y++ = pl_narrow_dsp((int32_t)(l << 1), factors[4], factors[5], offset);
      factors += 6;
    }
    row += depth;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, (int32_t)(y - data->output), params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}

pl_status pl_linear_few_s8(const pl_context *ctx, const pl_linear_params *params,
                           const pl_linear_dims *dims, const pl_linear_data *data) {
  (void)ctx;
  return run(params, dims, data, 0);
}

pl_status pl_linear_few_wide_s8(const pl_context *ctx, const pl_linear_params *params,
                                const pl_linear_dims *dims, const pl_linear_data *data) {
  (void)ctx;
  return run(params, dims, data, 1);
}
