// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_COMMON_POOL_DIMS_H_
#define KERNELS_COMMON_POOL_DIMS_H_

#include <stdint.h>

// Dims of a pool whose windows all have one size.
typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t output_h;
  int32_t output_w;
} pl_pool2d_dims;

#endif  // KERNELS_COMMON_POOL_DIMS_H_
