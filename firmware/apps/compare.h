// SPDX-License-Identifier: Apache-2.0
//
// Whether a model gives what is expected: one of these functions goes into a pl_vectors.
#ifndef FIRMWARE_APPS_COMPARE_H_
#define FIRMWARE_APPS_COMPARE_H_

#include <stdint.h>

#include "firmware/runtime/plan.h"

// The index of the first element of `tensor` that is not as expected, or the number of its elements
// if all are; `expected` has as many bytes. Never past either.
typedef uint32_t (*pl_compare)(const pl_tensor *tensor, const uint8_t *expected);

// As expected is what has the very bits: of integer kernels nothing else is right.
uint32_t pl_compare_bits(const pl_tensor *tensor, const uint8_t *expected);

// For models with ops in float32, whose libraries and compilers round differently from board to
// board: float32 within 1e-4 of the tensor's largest expected magnitude, which is what sums of a
// few thousand products in another order differ by; int8 and int16 within one step, which such a
// difference may round to; others the very bits.
uint32_t pl_compare_close(const pl_tensor *tensor, const uint8_t *expected);

#endif  // FIRMWARE_APPS_COMPARE_H_
