// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_ADD_ADD_H_
#define KERNELS_ADD_ADD_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

typedef struct {
  int32_t zero_point;
  int32_t multiplier;
  int32_t shift;
} pl_add_operand;

typedef struct {
  pl_add_operand a;
  pl_add_operand b;
  int32_t left_shift;  // guard bits of the common scale
  pl_add_operand output;
  int32_t activation_min;
  int32_t activation_max;
} pl_add_params;

// a has stride 1 in the innermost dimension, b stride 1 or 0.
typedef pl_broadcast_dims pl_add_dims;

typedef struct {
  const int8_t *a;
  const int8_t *b;
  int8_t *output;  // may alias a, or b if that does not repeat
} pl_add_data;

// output = clamp(requantize(scale(a) + scale(b)) + zero_point), where
// scale(x) = requantize((x - zero_point) << left_shift). a and b broadcast as in numpy. A
// subtraction has a negative multiplier. TFLite int8 ADD.
PL_MUST_USE pl_status pl_add_s8(const pl_context *ctx, const pl_add_params *params,
                                const pl_add_dims *dims, const pl_add_data *data);

// The same if all factors divide. Operands have shifts below 0, or multiplier +-2^30 and shift 0
// with a left_shift of 1 to 21. The output's shift is in [-20, -1]. The sum is below 2^30 by
// magnitude.
PL_MUST_USE pl_status pl_add_down_s8(const pl_context *ctx, const pl_add_params *params,
                                     const pl_add_dims *dims, const pl_add_data *data);

// The same on cores with Helium where all is one row.
PL_MUST_USE pl_status pl_add_flat_s8(const pl_context *ctx, const pl_add_params *params,
                                     const pl_add_dims *dims, const pl_add_data *data);

// The same on cores with Helium for rows of less than 24 elements, where a does not repeat.
PL_MUST_USE pl_status pl_add_short_s8(const pl_context *ctx, const pl_add_params *params,
                                      const pl_add_dims *dims, const pl_add_data *data);

#endif  // KERNELS_ADD_ADD_H_
