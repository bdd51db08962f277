// SPDX-License-Identifier: Apache-2.0
// Common code of softmax and log_softmax: a row's maximum and the sum of its exponentials.
#ifndef KERNELS_COMMON_EXPONENTIALS_H_
#define KERNELS_COMMON_EXPONENTIALS_H_

#include <stdint.h>

// Largest of `size` values that are `step` apart.
static inline int32_t pl_row_maximum(const int8_t *x, int32_t size, int32_t step) {
  int32_t maximum = INT8_MIN;
  for (; size > 0; --size, x += step) maximum = *x > maximum ? *x : maximum;
  return maximum;
}

// Sum of exp_table[maximum - x].
static inline uint32_t pl_row_exponentials(const int8_t *x, int32_t size, int32_t step,
                                           const int32_t *exp_table, int32_t maximum) {
  const int32_t *at_zero = exp_table + maximum;
  uint32_t sum = 0;
  for (; size > 0; --size, x += step) sum += (uint32_t)at_zero[-*x];
  return sum;
}

#endif  // KERNELS_COMMON_EXPONENTIALS_H_
