// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/reduce/fold.h"

typedef struct {
  int32_t zero_point;
  int32_t sum;
  uint64_t squares;
} sums;

static inline void add(void *result, int32_t value) {
  sums *so_far = result;
  const int32_t x = value - so_far->zero_point;
  so_far->sum += x;
  so_far->squares += (uint32_t)(x * x);
}

// floor(sqrt(x)), bit by bit.
static uint32_t square_root(uint64_t x) {
  uint64_t root = 0;
  uint64_t bit = (uint64_t)1 << 62;
  while (bit > x) bit >>= 2;
  for (; bit != 0; bit >>= 2) {
    const uint64_t larger = root + bit;
    root >>= 1;
    if (x >= larger) {
      x -= larger;
      root += bit;
    }
  }
  return (uint32_t)root;
}

static inline int32_t second_moment(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                    const int32_t *exp_table, const void *x) {
  (void)exp_table;
  sums s = {params->input_zero_point, 0, 0};
  pl_fold_s8(dims, x, &s, add);
  uint64_t moment = s.squares;
  if (params->count != 0) {
    moment = moment * (uint32_t)params->count - (uint64_t)((int64_t)s.sum * s.sum);
  }
  const int32_t bits = params->fraction_bits;
  if (bits >= 0) {
    moment <<= bits;
  } else {
    moment = (moment + ((uint64_t)1 << (-bits - 1))) >> -bits;
  }
  const int32_t value = (int32_t)(params->root ? square_root(moment) : moment);
  return pl_narrow(pl_requantize(value, params->multiplier, params->shift),
                   params->output_zero_point, INT8_MIN, INT8_MAX);
}

pl_status pl_second_moment_s8(const pl_context *ctx, const pl_reduce_params *params,
                              const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_reduce_s8(params, dims, data, second_moment);
}
