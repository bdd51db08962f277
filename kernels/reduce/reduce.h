// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_REDUCE_REDUCE_H_
#define KERNELS_REDUCE_REDUCE_H_

#include "kernels/common/reduction.h"
#include "kernels/common/types.h"

// Of amax, amin and sums null.
typedef struct {
  int32_t input_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
  int32_t count;           // of second_moment: of the values if centered, else 0
  int32_t root;            // of second_moment, 0 or 1
  int32_t fraction_bits;   // of second_moment, see there; of logsumexp, those of exp_table;
                           // of cumsum, those that a sum gets before it is requantized
  int32_t log_multiplier;  // of logsumexp: of log2 in Q16
  int32_t log_shift;
} pl_reduce_params;

typedef pl_reduction_dims pl_reduce_dims;

typedef struct {
  const void *input;         // as names say; of amax_s8 and amin_s8 also bool
  const int32_t *exp_table;  // of logsumexp: [256], exp(-d * input scale), or of int16 [512], see
                             // kernels/common/wide_exponentials.h
  void *output;              // of the input's type, of sums int32
} pl_reduce_data;

// The largest and the smallest value; of bools, whether any is true and whether all are.
PL_MUST_USE pl_status pl_amax_s8(const pl_context *ctx, const pl_reduce_params *params,
                                 const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_amin_s8(const pl_context *ctx, const pl_reduce_params *params,
                                 const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_amax_s16(const pl_context *ctx, const pl_reduce_params *params,
                                  const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_amin_s16(const pl_context *ctx, const pl_reduce_params *params,
                                  const pl_reduce_dims *dims, const pl_reduce_data *data);

// The sum, of which the low 32 bits stay; of bools how many are true.
PL_MUST_USE pl_status pl_sum_s32(const pl_context *ctx, const pl_reduce_params *params,
                                 const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_sum_s16(const pl_context *ctx, const pl_reduce_params *params,
                                 const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_sum_bool(const pl_context *ctx, const pl_reduce_params *params,
                                  const pl_reduce_dims *dims, const pl_reduce_data *data);

// output = saturate(requantize(v) + output_zero_point). With x = input - input_zero_point and
// s = count * sum x^2 - (sum x)^2, or sum x^2 where count is 0, v is s * 2^fraction_bits, or with
// root floor(sqrt(s * 2^fraction_bits)). Negative fraction_bits round to nearest, ties up.
// Of int16 there are fewer than 2^15 values, the zero points are 0 and v is requantized as
// kernels/common/wide.h says.
PL_MUST_USE pl_status pl_second_moment_s8(const pl_context *ctx, const pl_reduce_params *params,
                                          const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_second_moment_s16(const pl_context *ctx, const pl_reduce_params *params,
                                           const pl_reduce_dims *dims, const pl_reduce_data *data);

// output = saturate((requantize((max - input_zero_point) << 20) + requantize_log(log2(S))) / 2^10 +
// output_zero_point), where S is the sum of exp_table[max - input], the log2 and the rounding are
// those of log_softmax. Of int16 there are at most 2^16 values, and the terms are those of
// pl_log_softmax_s16.
PL_MUST_USE pl_status pl_logsumexp_s8(const pl_context *ctx, const pl_reduce_params *params,
                                      const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_logsumexp_s16(const pl_context *ctx, const pl_reduce_params *params,
                                       const pl_reduce_dims *dims, const pl_reduce_data *data);

// output = saturate(requantize(s << fraction_bits) + output_zero_point), s the sum of input -
// input_zero_point over the innermost reduced dimension, the only one, up to and with each value.
// The output has the input's shape, and may be the input. Of int16 the zero points and
// fraction_bits are 0, and the sum is requantized as kernels/common/wide.h says.
PL_MUST_USE pl_status pl_cumsum_s8(const pl_context *ctx, const pl_reduce_params *params,
                                   const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_cumsum_s16(const pl_context *ctx, const pl_reduce_params *params,
                                    const pl_reduce_dims *dims, const pl_reduce_data *data);

#endif  // KERNELS_REDUCE_REDUCE_H_
