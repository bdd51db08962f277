// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials_dsp.h"
#include "kernels/common/log2.h"
#include "kernels/common/requantize.h"
#include "kernels/log_softmax/log_softmax.h"

// Fraction bits of the scaled terms.
#define GUARD_BITS 10

static void log_softmax_row(const pl_log_softmax_params *params, const int8_t *x, int32_t size,
                            int32_t step, const int32_t *exp_table, int8_t *output) {
  const pl_log_softmax_params p = *params;
  const int32_t maximum = pl_maximum_of(x, size, step);
  const uint32_t sum = pl_exponentials_of(x, size, step, exp_table, maximum);
  const int32_t log_sum = pl_log2_q16(sum) - (p.fraction_bits << 16);
  const int32_t scaled_log = pl_requantize(log_sum, p.log_multiplier, p.log_shift);
  // Below this the result is far under the output's range: bounded, the difference fits int32.
  const int32_t lowest = -INT32_MAX + scaled_log;
  for (; size > 0; --size, x += step, output += step) {
    const int32_t difference = (*x - maximum) * (1 << 20);
    const int32_t scaled = pl_requantize(difference, p.input_multiplier, p.input_shift);
    const int32_t bounded = scaled > lowest ? scaled : lowest;
    const int32_t result = pl_shift_right_rounding(bounded - scaled_log, GUARD_BITS);
    *output = pl_narrow(result, p.output_zero_point, INT8_MIN, INT8_MAX);
  }
}

pl_status pl_log_softmax_s8(const pl_context *ctx, const pl_log_softmax_params *params,
                            const pl_log_softmax_dims *dims, const pl_log_softmax_data *data) {
  (void)ctx;
  const int32_t block = dims->size * dims->inner;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      const int32_t start = outer * block + inner;
      log_softmax_row(params, data->input + start, dims->size, dims->inner, data->exp_table,
                      data->output + start);
    }
  }
  return PL_OK;
}
