// SPDX-License-Identifier: Apache-2.0
// The pre-activations of the gates of a unit. Each class of cores without Helium has its
// pl_add_gate_sums and its order of weights, in gates_….h and in kernel.py.
#ifndef KERNELS_RECURRENT_GATES_H_
#define KERNELS_RECURRENT_GATES_H_

#include <stdbool.h>
#include <stdint.h>

#include "kernels/common/types.h"

// Adds the products of an input, int16 if it is wide, else int8, with the weights of each gate.
PL_INLINE void pl_add_gate_sums(const void *input, bool wide, int32_t count, const int8_t *weight,
                                int32_t gates, int32_t *sums);

#endif  // KERNELS_RECURRENT_GATES_H_
