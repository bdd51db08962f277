// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MUL_MUL_H_
#define KERNELS_MUL_MUL_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

typedef struct {
  int32_t a_zero_point;
  int32_t b_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
  int32_t activation_min;
  int32_t activation_max;
} pl_mul_params;

// a has stride 1 in the innermost dimension, b stride 1 or 0.
typedef pl_broadcast_dims pl_mul_dims;

typedef struct {
  const int8_t *a;
  const int8_t *b;
  int8_t *output;  // may alias a, or b if that does not repeat
} pl_mul_data;

// output = clamp(requantize((a - a_zero_point) * (b - b_zero_point)) + output_zero_point).
// a and b broadcast as in numpy. TFLite int8 MUL.
PL_MUST_USE pl_status pl_mul_s8(const pl_context *ctx, const pl_mul_params *params,
                                const pl_mul_dims *dims, const pl_mul_data *data);

// The same for a shift in [-20, 0), on cores with Helium for any below 0.
PL_MUST_USE pl_status pl_mul_down_s8(const pl_context *ctx, const pl_mul_params *params,
                                     const pl_mul_dims *dims, const pl_mul_data *data);

// The same on cores with Helium where all is one row.
PL_MUST_USE pl_status pl_mul_flat_s8(const pl_context *ctx, const pl_mul_params *params,
                                     const pl_mul_dims *dims, const pl_mul_data *data);

// The same on cores with Helium for rows of less than 36 elements, where a does not repeat.
PL_MUST_USE pl_status pl_mul_short_s8(const pl_context *ctx, const pl_mul_params *params,
                                      const pl_mul_dims *dims, const pl_mul_data *data);

#endif  // KERNELS_MUL_MUL_H_
