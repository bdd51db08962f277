// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials_mve.h"
#include "kernels/common/log2.h"
#include "kernels/common/requantize_mve.h"
#include "kernels/log_softmax/log_softmax.h"

// Fraction bits of the scaled terms.
#define GUARD_BITS 10

PL_INLINE void log_softmax_row(const pl_log_softmax_params *params, pl_row_mve row,
                               const int32_t *exp_table, int8_t *output) {
  const int32_t maximum = pl_row_maximum_mve(row);
  const uint32_t sum = pl_row_exponentials_mve(row, exp_table, maximum);
  const int32_t log_sum = pl_log2_q16(sum) - (params->fraction_bits << 16);
  const int32_t scaled_log = pl_requantize(log_sum, params->log_multiplier, params->log_shift);
  // Below this the result is far under the output's range: bounded, the difference fits int32.
  const int32x4_t lowest = vdupq_n_s32(-INT32_MAX + scaled_log);
  const pl_factors_mve factors = pl_same_factors_mve(params->input_multiplier, params->input_shift);
  const pl_output_stage stage = {
      .zero_point = params->output_zero_point,
      .activation_min = INT8_MIN,
      .activation_max = INT8_MAX,
  };
  const uint32x4_t offsets = pl_offsets_mve(row.step);
  const int8_t *x = row.x;
  for (int32_t left = row.size; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    const int32x4_t below = vsubq_n_s32(pl_load_row_mve(x, row.step, offsets, lanes), maximum);
    const int32x4_t scaled = pl_requantize_mve(vshlq_n_s32(below, 20), factors);
    const int32x4_t result = vsubq_n_s32(vmaxq_s32(scaled, lowest), scaled_log);
    // VRSHR rounds ties up. Subtracting one below zero rounds ties away from zero.
    const int32x4_t away = vaddq_s32(result, vshrq_n_s32(result, 31));
    const int32x4_t y = pl_narrow_mve(vrshrq_n_s32(away, GUARD_BITS), &stage);
    pl_store_row_mve(output, row.step, offsets, y, lanes);
    x += 4 * row.step;
    output += 4 * row.step;
  }
}

pl_status pl_log_softmax_s8(const pl_context *ctx, const pl_log_softmax_params *params,
                            const pl_log_softmax_dims *dims, const pl_log_softmax_data *data) {
  (void)ctx;
  const int32_t block = dims->size * dims->inner;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      const int32_t start = outer * block + inner;
      const pl_row_mve row = {data->input + start, NULL, dims->size, dims->inner, false};
      log_softmax_row(params, row, data->exp_table, data->output + start);
    }
  }
  return PL_OK;
}
