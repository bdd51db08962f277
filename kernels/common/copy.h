// SPDX-License-Identifier: Apache-2.0
// Copies of short runs, for kernels that move data: no alignment required, no C library.
#ifndef KERNELS_COMMON_COPY_H_
#define KERNELS_COMMON_COPY_H_

#include <stdint.h>

// Copies `bytes` bytes; the ranges must not overlap.
void pl_copy_bytes(int8_t *to, const int8_t *from, int32_t bytes);

// Sets `bytes` bytes to `value`.
void pl_fill_bytes(int8_t *to, int8_t value, int32_t bytes);

#endif  // KERNELS_COMMON_COPY_H_
