// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_BINARY_F32_BINARY_F32_H_
#define KERNELS_BINARY_F32_BINARY_F32_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

typedef struct pl_binary_f32_params pl_binary_f32_params;  // none: null

// Both strides are 0 or 1 in the innermost dimension.
typedef pl_broadcast_dims pl_binary_f32_dims;

typedef struct {
  const float *a;
  const float *b;
  void *output;  // float, may alias an operand that does not repeat; for comparisons bool
} pl_binary_f32_data;

// a / b as IEEE 754 divides, the same on every core. Operands broadcast as in numpy, here and
// below.
PL_MUST_USE pl_status pl_div_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                                 const pl_binary_f32_dims *dims, const pl_binary_f32_data *data);

// a + b, a - b and a * b, likewise.
PL_MUST_USE pl_status pl_add_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                                 const pl_binary_f32_dims *dims, const pl_binary_f32_data *data);
PL_MUST_USE pl_status pl_sub_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                                 const pl_binary_f32_dims *dims, const pl_binary_f32_data *data);
PL_MUST_USE pl_status pl_mul_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                                 const pl_binary_f32_dims *dims, const pl_binary_f32_data *data);

// The smaller and the larger of a and b; NaN if one of them is.
PL_MUST_USE pl_status pl_minimum_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                                     const pl_binary_f32_dims *dims,
                                     const pl_binary_f32_data *data);
PL_MUST_USE pl_status pl_maximum_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                                     const pl_binary_f32_dims *dims,
                                     const pl_binary_f32_data *data);

// a < b, a <= b, a == b and a != b; of NaN only the last is true.
PL_MUST_USE pl_status pl_less_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                                  const pl_binary_f32_dims *dims, const pl_binary_f32_data *data);
PL_MUST_USE pl_status pl_less_or_equal_f32(const pl_context *ctx,
                                           const pl_binary_f32_params *params,
                                           const pl_binary_f32_dims *dims,
                                           const pl_binary_f32_data *data);
PL_MUST_USE pl_status pl_equal_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                                   const pl_binary_f32_dims *dims, const pl_binary_f32_data *data);
PL_MUST_USE pl_status pl_not_equal_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                                       const pl_binary_f32_dims *dims,
                                       const pl_binary_f32_data *data);

#endif  // KERNELS_BINARY_F32_BINARY_F32_H_
