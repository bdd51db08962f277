// SPDX-License-Identifier: Apache-2.0
// Results from the sums of second_moment, for int8 and int16.
#ifndef KERNELS_REDUCE_SECOND_MOMENT_H_
#define KERNELS_REDUCE_SECOND_MOMENT_H_

#include "kernels/common/square_root.h"
#include "kernels/reduce/reduce.h"

typedef struct {
  int32_t sum;
  uint64_t squares;
} pl_moment_sums;

// The value before requantization.
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
