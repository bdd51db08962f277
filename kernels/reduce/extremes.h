// SPDX-License-Identifier: Apache-2.0
// The largest or the smallest int8, one by one.
#ifndef KERNELS_REDUCE_EXTREMES_H_
#define KERNELS_REDUCE_EXTREMES_H_

#include "kernels/reduce/fold.h"

PL_INLINE void pl_larger(void *result, int32_t value) {
  int32_t *largest = result;
  if (value > *largest) *largest = value;
}

PL_INLINE void pl_smaller(void *result, int32_t value) {
  int32_t *smallest = result;
  if (value < *smallest) *smallest = value;
}

PL_INLINE int32_t pl_extreme_s8(const pl_reduce_dims *dims, const void *x,
                                pl_fold_function *function) {
  int32_t result = pl_load_s8(x);
  pl_fold_s8(dims, x, &result, function);
  return result;
}

static inline int32_t pl_amax_of(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                 const int32_t *exp_table, const void *x) {
  (void)params;
  (void)exp_table;
  return pl_extreme_s8(dims, x, pl_larger);
}

static inline int32_t pl_amin_of(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                 const int32_t *exp_table, const void *x) {
  (void)params;
  (void)exp_table;
  return pl_extreme_s8(dims, x, pl_smaller);
}

#endif  // KERNELS_REDUCE_EXTREMES_H_
