// SPDX-License-Identifier: Apache-2.0
// Arithmetic on indices, and comparisons: int32, of which sums, differences and products keep the
// low 32 bits. Operands broadcast as in numpy.
#ifndef KERNELS_INTEGER_INTEGER_H_
#define KERNELS_INTEGER_INTEGER_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

// Of quantize and place; null for the others.
typedef struct {
  int32_t output_zero_point;  // of quantize, as the next two
  int32_t multiplier;
  int32_t shift;
  int32_t rows;  // of place: rows * columns < 2^31
  int32_t columns;
} pl_integer_params;

// In the innermost dimension both strides are 0 or 1.
typedef pl_broadcast_dims pl_integer_dims;

typedef struct {
  const int32_t *a;
  const int32_t *b;  // of quantize and to_float null
  void *output;      // int32, of less and equal bool, of quantize int8 or int16, of to_float
                     // float; if int32, an operand that does not repeat may be there
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

// The bits that both have.
PL_MUST_USE pl_status pl_integer_and(const pl_context *ctx, const pl_integer_params *params,
                                     const pl_integer_dims *dims, const pl_integer_data *data);

// a / b towards minus infinity, and what is left then, of b's sign; both 0 where b is 0.
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
