// SPDX-License-Identifier: Apache-2.0
// What is made of the sums of second_moment, of int8 and of int16.
#ifndef KERNELS_REDUCE_SECOND_MOMENT_H_
#define KERNELS_REDUCE_SECOND_MOMENT_H_

#include "kernels/reduce/reduce.h"

typedef struct {
  int32_t zero_point;
  int32_t sum;
  uint64_t squares;
} pl_moment_sums;

static inline void pl_add_to_moment(void *result, int32_t value) {
  pl_moment_sums *so_far = result;
  const int32_t x = value - so_far->zero_point;
  so_far->sum += x;
  so_far->squares += (uint32_t)(x * x);
}

// floor(sqrt(x)), bit by bit.
static inline uint32_t pl_square_root(uint64_t x) {
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

// What is requantized.
static inline int64_t pl_second_moment(const pl_reduce_params *params, const pl_moment_sums *s) {
  uint64_t moment = s->squares;
  if (params->count != 0) {
    moment = moment * (uint32_t)params->count - (uint64_t)((int64_t)s->sum * s->sum);
  }
  const int32_t bits = params->fraction_bits;
  if (bits >= 0) {
    moment <<= bits;
  } else {
    moment = (moment + ((uint64_t)1 << (-bits - 1))) >> -bits;
  }
  return (int64_t)(params->root ? pl_square_root(moment) : moment);
}

#endif  // KERNELS_REDUCE_SECOND_MOMENT_H_
