// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_POW_POW_H_
#define KERNELS_POW_POW_H_

#include "kernels/common/types.h"

// Sign of a negative number's power: not a number, positive or negative.
enum { PL_POW_BROKEN = 0, PL_POW_EVEN = 1, PL_POW_ODD = 2 };

// The exponent, also as mantissa / 2^shift with |mantissa| < 2^24 and shift in [1, 62].
typedef struct {
  float exponent;
  int32_t mantissa;
  int32_t shift;
  int32_t parity;
} pl_pow_params;

typedef struct {
  int32_t size;
} pl_pow_dims;

typedef struct {
  const float *input;  // [size]
  float *output;       // [size], may be the input
} pl_pow_data;

// input to the power of a constant, by fixed-point logarithms: within 2^-22 of the result for
// exponents up to 16, the same on every core.
PL_MUST_USE pl_status pl_pow_f32(const pl_context *ctx, const pl_pow_params *params,
                                 const pl_pow_dims *dims, const pl_pow_data *data);

// Same for a small nonzero integer exponent, by multiplications.
PL_MUST_USE pl_status pl_pow_whole_f32(const pl_context *ctx, const pl_pow_params *params,
                                       const pl_pow_dims *dims, const pl_pow_data *data);

// The same for an exponent of 0.5 or -0.5, by the square root: NaN for -infinity, as in torch.
PL_MUST_USE pl_status pl_pow_half_f32(const pl_context *ctx, const pl_pow_params *params,
                                      const pl_pow_dims *dims, const pl_pow_data *data);

#endif  // KERNELS_POW_POW_H_
