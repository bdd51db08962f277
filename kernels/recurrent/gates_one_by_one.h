// SPDX-License-Identifier: Apache-2.0
// Products one by one.
#ifndef KERNELS_RECURRENT_GATES_ONE_BY_ONE_H_
#define KERNELS_RECURRENT_GATES_ONE_BY_ONE_H_

#include "kernels/recurrent/gates.h"

// weight: [count, gates].
PL_INLINE void pl_add_gate_products(const void *input, bool wide, int32_t count,
                                    const int8_t *weight, int32_t gates, int32_t *sums) {
  int32_t sum0 = sums[0];
  int32_t sum1 = sums[1];
  int32_t sum2 = sums[2];
  int32_t sum3 = sums[3];
  for (int32_t k = 0; k < count; ++k, weight += gates) {
    const int32_t x = wide ? ((const int16_t *)input)[k] : ((const int8_t *)input)[k];
    sum0 += x * weight[0];
    if (gates > 1) sum1 += x * weight[1];
    if (gates > 2) sum2 += x * weight[2];
    if (gates > 3) sum3 += x * weight[3];
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
}

#endif  // KERNELS_RECURRENT_GATES_ONE_BY_ONE_H_
