// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_BINARY_BINARY_H_
#define KERNELS_BINARY_BINARY_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

// Fields are null if a function does not document them.
typedef struct {
  int32_t a_zero_point;
  int32_t b_zero_point;  // 0 for prelu
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
  int32_t activation_min;
  int32_t activation_max;
  int32_t one;      // for prelu, at least 1: the b that stands for 1
  int32_t negated;  // for equal, 0 or 1
} pl_binary_params;

// Both strides are 0 or 1 in the innermost dimension.
typedef pl_broadcast_dims pl_binary_dims;

typedef struct {
  const int8_t *a;
  const int8_t *b;
  const int16_t *table;  // [256], of less and equal
  void *output;          // int8, for less and equal bool; may alias an operand that does not repeat
} pl_binary_data;

// The larger and the smaller of a and b, all of one quantization. Operands broadcast as in numpy,
// here and below; in the innermost dimension these a have stride 1.
PL_MUST_USE pl_status pl_maximum_s8(const pl_context *ctx, const pl_binary_params *params,
                                    const pl_binary_dims *dims, const pl_binary_data *data);
PL_MUST_USE pl_status pl_minimum_s8(const pl_context *ctx, const pl_binary_params *params,
                                    const pl_binary_dims *dims, const pl_binary_data *data);

// a < table[b + 128]: the table has b in the scale of a.
PL_MUST_USE pl_status pl_less_s8(const pl_context *ctx, const pl_binary_params *params,
                                 const pl_binary_dims *dims, const pl_binary_data *data);

// (a == table[b + 128]) != negated.
PL_MUST_USE pl_status pl_equal_s8(const pl_context *ctx, const pl_binary_params *params,
                                  const pl_binary_dims *dims, const pl_binary_data *data);

// clamp(requantize((a - a_zero_point) / (b - b_zero_point)) + output_zero_point). The quotient has
// 23 fraction bits, rounded to nearest, ties away from zero. Division by zero gives activation_max
// or activation_min, by the sign of the dividend; 0 / 0 is 0.
PL_MUST_USE pl_status pl_div_s8(const pl_context *ctx, const pl_binary_params *params,
                                const pl_binary_dims *dims, const pl_binary_data *data);

// clamp(requantize(x * (x > 0 ? one : b)) + output_zero_point), x = a - a_zero_point. TFLite has
// separate factors for both sides; here the slope's scale is 1 / one.
PL_MUST_USE pl_status pl_prelu_s8(const pl_context *ctx, const pl_binary_params *params,
                                  const pl_binary_dims *dims, const pl_binary_data *data);

// The same, on cores without Helium, for shifts in [-20, -1], products below 2^30 and activations
// that span all of int8.
PL_MUST_USE pl_status pl_prelu_down_s8(const pl_context *ctx, const pl_binary_params *params,
                                       const pl_binary_dims *dims, const pl_binary_data *data);

#endif  // KERNELS_BINARY_BINARY_H_
