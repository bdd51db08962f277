// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_GATES_SCALAR_H_
#define KERNELS_RECURRENT_GATES_SCALAR_H_

#include "kernels/recurrent/gates_one_by_one.h"

// weight: [count, gates].
PL_INLINE void pl_add_gate_sums(const void *input, bool wide, int32_t count, const int8_t *weight,
                                int32_t gates, int32_t *sums) {
  pl_add_gate_products(input, wide, count, weight, gates, sums);
}

#endif  // KERNELS_RECURRENT_GATES_SCALAR_H_
