// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s8.h"
#include "kernels/common/gemm_pairs_s8.h"
#include "kernels/linear/linear.h"

// pl_widen_s8 for whole rows.
static void widen_row(const int8_t *x, int32_t depth, uint32_t *to) {
  for (const int8_t *end = x + (depth & ~15); x != end;) {
    // GCC makes no STM of eight. Loads are one by one, as x may be anywhere.
    __asm__ volatile(
        "ldr r0, [%[x]], #4\n\tldr r2, [%[x]], #4\n\tldr r4, [%[x]], #4\n\tldr r6, [%[x]], #4\n\t"
        "sxtb16 r1, r0, ror #8\n\tsxtb16 r0, r0\n\tsxtb16 r3, r2, ror #8\n\tsxtb16 r2, r2\n\t"
        "sxtb16 r5, r4, ror #8\n\tsxtb16 r4, r4\n\tsxtb16 r8, r6, ror #8\n\tsxtb16 r6, r6\n\t"
        "stm %[to]!, {r0-r6, r8}\n\t"
        : [x] "+r"(x), [to] "+r"(to)
        :
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "memory");
  }
  if ((depth & 15) != 0) pl_widen_s8(x, 1, 0, depth & 15, to, 1);
}

PL_INLINE pl_status run(const pl_context *ctx, const pl_linear_params *params,
                        const pl_linear_dims *dims, const pl_linear_data *data,
                        pl_multiply_s8 *multiply) {
  const int32_t depth = dims->input_channels;
  const int32_t channels = dims->output_channels;
  const int32_t lanes = dims->rows < PL_PAIRS_ROWS ? 1 : PL_PAIRS_ROWS;
  if (ctx->scratch_size < (uint32_t)(4 * lanes * pl_steps_of(depth))) return PL_ERROR_SCRATCH_SIZE;
  uint32_t *const steps = ctx->scratch;
  const pl_gemm_pairs_s8 layer = pl_gemm_pairs(data->weight, data->bias, depth, channels,
                                               params->output_zero_point, steps, channels);
  const int8_t *x = data->input;
  int8_t *y = data->output;
  int32_t rows = dims->rows;
  for (; rows >= PL_PAIRS_ROWS; rows -= PL_PAIRS_ROWS) {
    const int8_t *rest = x + (depth & ~3);
    uint32_t *to = pl_widen_fours_s8(x, depth, rest, steps);
    if ((depth & 3) != 0) pl_widen_4_s8(rest, depth, 1, 0, depth & 3, to);
    multiply(&layer, PL_PAIRS_ROWS, y);
    x += PL_PAIRS_ROWS * depth;
    y += PL_PAIRS_ROWS * channels;
  }
  for (; rows > 0; --rows) {
    widen_row(x, depth, steps);
    multiply(&layer, 1, y);
    x += depth;
    y += channels;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, dims->rows * channels, params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}

pl_status pl_linear_pairs_s8(const pl_context *ctx, const pl_linear_params *params,
                             const pl_linear_dims *dims, const pl_linear_data *data) {
  return run(ctx, params, dims, data, pl_multiply_pairs_s8);
}

pl_status pl_linear_wide_pairs_s8(const pl_context *ctx, const pl_linear_params *params,
                                  const pl_linear_dims *dims, const pl_linear_data *data) {
  return run(ctx, params, dims, data, pl_multiply_wide_pairs_s8);
}
