// SPDX-License-Identifier: Apache-2.0
// The pre-activations of the gates of a unit. Each class of cores has its pl_add_gate_sums and its
// order of weights, in gates_….h and in kernel.py.
#ifndef KERNELS_RECURRENT_GATES_H_
#define KERNELS_RECURRENT_GATES_H_

#include <stdbool.h>

#include "kernels/common/requantize.h"

#define PL_MAX_GATES 4

// A part of a pre-activation reaches as far as this.
#define PL_PART_REACH (1 << 28)

// Adds the products of an input, int16 if it is wide, else int8, with the weights of each gate.
static inline __attribute__((always_inline)) void pl_add_gate_sums(const void *input, bool wide,
                                                                   int32_t count,
                                                                   const int8_t *weight,
                                                                   int32_t gates, int32_t *sums);

// clamp(requantize(sums + bias)) of each gate; no bias: null. part has room for all gates.
static inline void pl_requantize_gates(const int32_t *sums, int32_t gates, const int32_t *bias,
                                       const int32_t *multiplier, const int32_t *shift,
                                       int32_t *part);

// The same for one gate.
static inline int32_t pl_requantize_gate(int32_t sum, int32_t multiplier, int32_t shift) {
  return pl_clamp(pl_requantize(sum, multiplier, shift), -PL_PART_REACH, PL_PART_REACH);
}

#endif  // KERNELS_RECURRENT_GATES_H_
