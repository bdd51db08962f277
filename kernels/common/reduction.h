// SPDX-License-Identifier: Apache-2.0
// Loops of ops that reduce some dimensions of a tensor.
#ifndef KERNELS_COMMON_REDUCTION_H_
#define KERNELS_COMMON_REDUCTION_H_

#include <stdint.h>

#define PL_REDUCTION_DIMS 3

// Sizes and input strides, in elements, outermost dimension first, of the kept and of the reduced
// dimensions. The output is contiguous. kernels/common/shapes.py merges dimensions.
typedef struct {
  int32_t kept[PL_REDUCTION_DIMS];
  int32_t kept_stride[PL_REDUCTION_DIMS];
  int32_t reduced[PL_REDUCTION_DIMS];
  int32_t reduced_stride[PL_REDUCTION_DIMS];
} pl_reduction_dims;

#endif  // KERNELS_COMMON_REDUCTION_H_
