// SPDX-License-Identifier: Apache-2.0
// Common code of the norms.
#ifndef KERNELS_COMMON_MOMENTS_F32_H_
#define KERNELS_COMMON_MOMENTS_F32_H_

#include <stdint.h>

#include "kernels/common/sqrt_f32.h"

typedef struct {
  float mean;
  float rstd;  // 1 / sqrt(variance + epsilon)
} pl_moments;

// Moments of `size` values. The variance is about the mean, in a second pass.
static inline pl_moments pl_moments_f32(const float *x, int32_t size, float epsilon) {
  float sum = 0.0f;
  for (int32_t i = 0; i < size; ++i) sum += x[i];
  const float mean = sum / (float)size;
  float squares = 0.0f;
  for (int32_t i = 0; i < size; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return (pl_moments){mean, 1.0f / pl_sqrt_f32(squares / (float)size + epsilon)};
}

#endif  // KERNELS_COMMON_MOMENTS_F32_H_
