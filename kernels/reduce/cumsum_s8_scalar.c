// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/reduce/reduce.h"

static void cumsum(const pl_reduce_params *params, const int8_t *x, int32_t size, int32_t step,
                   int8_t *output) {
  // A copy that no store to the output can change.
  const pl_reduce_params p = *params;
  const int32_t unit = 1 << p.fraction_bits;
  int32_t sum = 0;
  for (; size > 0; --size, x += step, output += step) {
    sum += *x - p.input_zero_point;
    *output = pl_narrow(pl_requantize(sum * unit, p.multiplier, p.shift), p.output_zero_point,
                        INT8_MIN, INT8_MAX);
  }
}

pl_status pl_cumsum_s8(const pl_context *ctx, const pl_reduce_params *params,
                       const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  const int8_t *input = data->input;
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      int32_t start = i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t left = dims->kept[2]; left > 0; --left, start += dims->kept_stride[2]) {
        cumsum(params, input + start, dims->reduced[2], dims->reduced_stride[2], output + start);
      }
    }
  }
  return PL_OK;
}
