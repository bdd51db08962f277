// SPDX-License-Identifier: Apache-2.0
//
// Comparison of a model's outputs with the expected ones. One of these functions goes into a
// pl_vectors.
#ifndef FIRMWARE_APPS_COMPARE_H_
#define FIRMWARE_APPS_COMPARE_H_

#include <stdint.h>

#include "firmware/runtime/plan.h"

// Index of the first unexpected element of `tensor`, or the number of its elements if there is
// none. `expected` has as many bytes. Never reads past either.
typedef uint32_t (*pl_compare)(const pl_tensor *tensor, const uint8_t *expected);

// Requires identical bits: for integer kernels nothing else is right.
uint32_t pl_compare_bits(const pl_tensor *tensor, const uint8_t *expected);

// For models with ops in float32, whose libraries and compilers round differently from board to
// board. float32 must be within 1e-4 of the tensor's largest expected magnitude. Sums of a few
// thousand products in another order differ by that much. int8 and int16 may differ by one step,
// because such a difference may change the rounding. Other types must have identical bits.
uint32_t pl_compare_close(const pl_tensor *tensor, const uint8_t *expected);

#endif  // FIRMWARE_APPS_COMPARE_H_
