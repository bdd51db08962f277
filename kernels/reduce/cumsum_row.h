// SPDX-License-Identifier: Apache-2.0
// One row of pl_cumsum_s8.
#ifndef KERNELS_REDUCE_CUMSUM_ROW_H_
#define KERNELS_REDUCE_CUMSUM_ROW_H_

#include "kernels/common/requantize.h"
#include "kernels/reduce/cumsum.h"

static inline void pl_cumsum_row_s8(const pl_reduce_params *params, const void *input,
                                    int32_t start, int32_t size, int32_t step, void *result) {
  // A copy, safe from stores to the output.
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

#endif  // KERNELS_REDUCE_CUMSUM_ROW_H_
