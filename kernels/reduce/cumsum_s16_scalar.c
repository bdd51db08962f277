// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide.h"
#include "kernels/reduce/cumsum.h"

static inline void cumsum(const pl_reduce_params *params, const void *input, int32_t start,
                          int32_t size, int32_t step, void *result) {
  // A copy, safe from stores to the output.
  const pl_reduce_params p = *params;
  const int16_t *x = (const int16_t *)input + start;
  int16_t *output = (int16_t *)result + start;
  int64_t sum = 0;
  for (; size > 0; --size, x += step, output += step) {
    sum += *x;
    *output = pl_wide_narrow(sum, p.multiplier, p.shift, INT16_MIN, INT16_MAX);
  }
}

pl_status pl_cumsum_s16(const pl_context *ctx, const pl_reduce_params *params,
                        const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_cumsum_rows(params, dims, data, cumsum);
}
