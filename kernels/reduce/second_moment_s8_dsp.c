// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/reduce/second_moment_s8.h"

#define LANES 4

// Two values in a word: SMLAD adds both squares, or, times one each, both values.
static inline void run(const int8_t *x, int32_t count, int32_t *sum, int32_t *squares) {
  const int16x2_t ones = (int16x2_t)pl_two_s16(1, 1);
  int32_t total = *sum;
  int32_t of_squares = *squares;
  for (const int8_t *end = x + (count & ~(LANES - 1)); x != end; x += LANES) {
    const int8x4_t four = pl_load_4(x);
    const int16x2_t even = pl_even_s16(four);
    const int16x2_t odd = pl_odd_s16(four);
    of_squares = __smlad(even, even, of_squares);
    of_squares = __smlad(odd, odd, of_squares);
    total = __smlad(even, ones, total);
    total = __smlad(odd, ones, total);
  }
  *sum = total;
  *squares = of_squares;
  pl_moment_steps(x, 1, count & (LANES - 1), sum, squares);
}

static inline void row(const pl_reduce_params *params, const pl_reduce_dims *dims, const int8_t *x,
                       int8_t *output) {
  pl_moments_of_row(params, dims, x, output, run);
}

pl_status pl_second_moment_s8(const pl_context *ctx, const pl_reduce_params *params,
                              const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_moments(params, dims, data, row);
}
