// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/cumsum.h"

#include "kernels/common/requantize.h"

static inline void cumsum(const pl_reduce_params *params, const void *input, int32_t start,
                          int32_t size, int32_t step, void *result) {
  // A copy that no store to the output can change.
  const pl_reduce_params p = *params;
  const int8_t *x = (const int8_t *)input + start;
  int8_t *output = (int8_t *)result + start;
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
  return pl_cumsum_rows(params, dims, data, cumsum);
}
