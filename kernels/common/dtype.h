// SPDX-License-Identifier: Apache-2.0
// The element types of tensors, from tensor.py: dtype_header.py writes this file.
#ifndef KERNELS_COMMON_DTYPE_H_
#define KERNELS_COMMON_DTYPE_H_

#include <stdint.h>

typedef enum {
  PL_DTYPE_INT8 = 0,
  PL_DTYPE_INT32 = 1,
  PL_DTYPE_FLOAT32 = 2,
  PL_DTYPE_INT16 = 3,
  PL_DTYPE_BOOL = 4,
} pl_dtype;

// Bytes of one element.
static inline uint32_t pl_dtype_size(pl_dtype dtype) {
  switch (dtype) {
    case PL_DTYPE_INT8:
    case PL_DTYPE_BOOL:
      return 1;
    case PL_DTYPE_INT16:
      return 2;
    default:
      return 4;
  }
}

#endif  // KERNELS_COMMON_DTYPE_H_
