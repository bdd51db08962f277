// SPDX-License-Identifier: Apache-2.0
// Arithmetic on indices, and comparisons, in int32. Sums, differences and products keep the low 32
// bits. Operands broadcast as in numpy.
#ifndef KERNELS_INTEGER_INTEGER_H_
#define KERNELS_INTEGER_INTEGER_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

// For quantize and place; null for the other functions.
typedef struct {
  int32_t output_zero_point;  // for quantize, same as the next two
  int32_t multiplier;
  int32_t shift;
  int32_t rows;  // for place: rows * columns < 2^31
  int32_t columns;
} pl_integer_params;

// Both strides are 0 or 1 in the innermost dimension.
typedef pl_broadcast_dims pl_integer_dims;

typedef struct {
  const int32_t *a;
  const int32_t *b;  // null for quantize and to_float
  void *output;      // int32; bool for less and equal; int8 or int16 for quantize; float for
                     // to_float. An int32 output may alias an operand without broadcast
} pl_integer_data;

PL_MUST_USE pl_status pl_integer_add(const pl_context *ctx, const pl_integer_params *params,
                                     const pl_integer_dims *dims, const pl_integer_data *data);
PL_MUST_USE pl_status pl_integer_sub(const pl_context *ctx, const pl_integer_params *params,
                                     const pl_integer_dims *dims, const pl_integer_data *data);
PL_MUST_USE pl_status pl_integer_mul(const pl_context *ctx, const pl_integer_params *params,
                                     const pl_integer_dims *dims, const pl_integer_data *data);

// The smaller and the larger of a and b.
PL_MUST_USE pl_status pl_integer_minimum(const pl_context *ctx, const pl_integer_params *params,
                                         const pl_integer_dims *dims, const pl_integer_data *data);
PL_MUST_USE pl_status pl_integer_maximum(const pl_context *ctx, const pl_integer_params *params,
                                         const pl_integer_dims *dims, const pl_integer_data *data);

// Bits set in both operands.
PL_MUST_USE pl_status pl_integer_and(const pl_context *ctx, const pl_integer_params *params,
                                     const pl_integer_dims *dims, const pl_integer_data *data);

// a / b rounded towards minus infinity, and the remainder with b's sign. Both are 0 if b is 0.
PL_MUST_USE pl_status pl_integer_divide(const pl_context *ctx, const pl_integer_params *params,
                                        const pl_integer_dims *dims, const pl_integer_data *data);
PL_MUST_USE pl_status pl_integer_modulo(const pl_context *ctx, const pl_integer_params *params,
                                        const pl_integer_dims *dims, const pl_integer_data *data);

// a * columns + b where a is in [0, rows) and b in [0, columns), else -1.
PL_MUST_USE pl_status pl_integer_place(const pl_context *ctx, const pl_integer_params *params,
                                       const pl_integer_dims *dims, const pl_integer_data *data);

// a < b and a == b, as bools.
PL_MUST_USE pl_status pl_integer_less(const pl_context *ctx, const pl_integer_params *params,
                                      const pl_integer_dims *dims, const pl_integer_data *data);
PL_MUST_USE pl_status pl_integer_equal(const pl_context *ctx, const pl_integer_params *params,
                                       const pl_integer_dims *dims, const pl_integer_data *data);

// saturate_int8(requantize(a) + output_zero_point): the number as int8 of the output's scale.
PL_MUST_USE pl_status pl_integer_quantize(const pl_context *ctx, const pl_integer_params *params,
                                          const pl_integer_dims *dims, const pl_integer_data *data);

// The same as int16, of zero point 0.
PL_MUST_USE pl_status pl_integer_quantize_s16(const pl_context *ctx,
                                              const pl_integer_params *params,
                                              const pl_integer_dims *dims,
                                              const pl_integer_data *data);

// The nearest float, ties to even.
PL_MUST_USE pl_status pl_integer_to_float(const pl_context *ctx, const pl_integer_params *params,
                                          const pl_integer_dims *dims, const pl_integer_data *data);

#endif  // KERNELS_INTEGER_INTEGER_H_
