// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_POW_POW_H_
#define KERNELS_POW_POW_H_

#include "kernels/common/types.h"

typedef struct {
  float exponent;
} pl_pow_params;

typedef struct {
  int32_t size;
} pl_pow_dims;

typedef struct {
  const float *input;
  float *output;  // may be the input
} pl_pow_data;

// input to the power of a constant, by the C library's powf.
PL_MUST_USE pl_status pl_pow_f32(const pl_context *ctx, const pl_pow_params *params,
                                 const pl_pow_dims *dims, const pl_pow_data *data);

// The same for an exponent that is a small whole number, not 0, by multiplications.
PL_MUST_USE pl_status pl_pow_whole_f32(const pl_context *ctx, const pl_pow_params *params,
                                       const pl_pow_dims *dims, const pl_pow_data *data);

// The same for an exponent of 0.5 or -0.5, by the square root: NaN for -infinity, as in torch.
PL_MUST_USE pl_status pl_pow_half_f32(const pl_context *ctx, const pl_pow_params *params,
                                      const pl_pow_dims *dims, const pl_pow_data *data);

#endif  // KERNELS_POW_POW_H_
