// SPDX-License-Identifier: Apache-2.0
// Pre-activations of a unit's gates. Each class of cores without Helium has its own
// pl_add_gate_sums and its own order of weights, in gates_….h and in kernel.py.
#ifndef KERNELS_RECURRENT_GATES_H_
#define KERNELS_RECURRENT_GATES_H_

#include <stdbool.h>
#include <stdint.h>

#include "kernels/common/types.h"

// Adds the products of an input with the weights of each gate. The input is int16 if wide, else
// int8.
PL_INLINE void pl_add_gate_sums(const void *input, bool wide, int32_t count, const int8_t *weight,
                                int32_t gates, int32_t *sums);

#endif  // KERNELS_RECURRENT_GATES_H_
