// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials.h"
#include "kernels/common/requantize.h"
#include "kernels/log_softmax/log_softmax.h"

// Fraction bits of the scaled terms.
#define GUARD_BITS 10

// round(65536 * log2(1 + i / 128)); one more entry would be 65536.
static const uint16_t kLog2[128] = {
    0,     736,   1466,  2190,  2909,  3623,  4331,  5034,  5732,  6425,  7112,  7795,  8473,
    9146,  9814,  10477, 11136, 11791, 12440, 13086, 13727, 14363, 14996, 15624, 16248, 16868,
    17484, 18096, 18704, 19308, 19909, 20505, 21098, 21687, 22272, 22854, 23433, 24007, 24579,
    25146, 25711, 26272, 26830, 27384, 27936, 28484, 29029, 29571, 30109, 30645, 31178, 31707,
    32234, 32758, 33279, 33797, 34312, 34825, 35334, 35841, 36346, 36847, 37346, 37842, 38336,
    38827, 39316, 39802, 40286, 40767, 41246, 41722, 42196, 42667, 43137, 43603, 44068, 44530,
    44990, 45448, 45904, 46357, 46809, 47258, 47705, 48150, 48593, 49034, 49472, 49909, 50344,
    50776, 51207, 51636, 52063, 52488, 52911, 53332, 53751, 54169, 54584, 54998, 55410, 55820,
    56229, 56635, 57040, 57443, 57845, 58245, 58643, 59039, 59434, 59827, 60219, 60609, 60997,
    61384, 61769, 62152, 62534, 62915, 63294, 63671, 64047, 64421, 64794, 65166,
};

// log2 of x > 0 in Q16: the place of the leading bit and a linear interpolation in the table.
static int32_t log2_q16(uint32_t x) {
  const int32_t exponent = 31 - __builtin_clz(x);
  const uint32_t fraction = x << (31 - exponent);  // the leading bit is bit 31
  const uint32_t index = (fraction >> 24) & 0x7fu;
  const uint32_t place = (fraction >> 8) & 0xffffu;
  const uint32_t base = kLog2[index];
  const uint32_t next = index == 127 ? 65536u : kLog2[index + 1];
  const uint32_t interpolated = base + (((next - base) * place + (1u << 15)) >> 16);
  return (exponent << 16) + (int32_t)interpolated;
}

static void log_softmax_row(const pl_log_softmax_params *params, const int8_t *x, int32_t size,
                            int32_t step, const int32_t *exp_table, int8_t *output) {
  const pl_log_softmax_params p = *params;
  const int32_t maximum = pl_row_maximum(x, size, step);
  const uint32_t sum = pl_row_exponentials(x, size, step, exp_table, maximum);
  const int32_t log_sum = log2_q16(sum) - (p.fraction_bits << 16);
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
