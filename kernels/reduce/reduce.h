// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_REDUCE_REDUCE_H_
#define KERNELS_REDUCE_REDUCE_H_

#include "kernels/common/reduction.h"
#include "kernels/common/types.h"

// Null for amax, amin and sums.
typedef struct {
  int32_t input_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;
  int32_t shift;
  int32_t count;           // second_moment: number of values if centered, else 0
  int32_t root;            // second_moment: 0 or 1
  int32_t fraction_bits;   // second_moment: see there; logsumexp: those of exp_table; cumsum: bits
                           // added to a sum before requantization
  int32_t log_multiplier;  // logsumexp: for log2 in Q16
  int32_t log_shift;
} pl_reduce_params;

typedef pl_reduction_dims pl_reduce_dims;

typedef struct {
  const void *input;         // type as in the name; amax_s8 and amin_s8 also bool
  const int32_t *exp_table;  // logsumexp: [256], exp(-d * input scale), or for int16 [512], see
                             // kernels/common/wide_exponentials.h
  void *output;              // of the input's type; int32 for sums
} pl_reduce_data;

// The largest and the smallest value. For bools: any is true, and all are true.
PL_MUST_USE pl_status pl_amax_s8(const pl_context *ctx, const pl_reduce_params *params,
                                 const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_amin_s8(const pl_context *ctx, const pl_reduce_params *params,
                                 const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_amax_s16(const pl_context *ctx, const pl_reduce_params *params,
                                  const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_amin_s16(const pl_context *ctx, const pl_reduce_params *params,
                                  const pl_reduce_dims *dims, const pl_reduce_data *data);

// The low 32 bits of the sum. For bools: the number of true values.
PL_MUST_USE pl_status pl_sum_s32(const pl_context *ctx, const pl_reduce_params *params,
                                 const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_sum_s16(const pl_context *ctx, const pl_reduce_params *params,
                                 const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_sum_bool(const pl_context *ctx, const pl_reduce_params *params,
                                  const pl_reduce_dims *dims, const pl_reduce_data *data);

// output = saturate(requantize(v) + output_zero_point). Let x = input - input_zero_point. Let s =
// count * sum x^2 - (sum x)^2, or sum x^2 if count is 0. Then v is s * 2^fraction_bits, or with
// root floor(sqrt(s * 2^fraction_bits)). Negative fraction_bits round to nearest, ties up.
//
// For int16 there are fewer than 2^15 values and the zero points are 0. v is then requantized as in
// kernels/common/wide.h.
PL_MUST_USE pl_status pl_second_moment_s8(const pl_context *ctx, const pl_reduce_params *params,
                                          const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_second_moment_s16(const pl_context *ctx, const pl_reduce_params *params,
                                           const pl_reduce_dims *dims, const pl_reduce_data *data);

// output = saturate((requantize((max - input_zero_point) << 20) + requantize_log(log2(S))) / 2^10 +
// output_zero_point). S is the sum of exp_table[max - input]. The log2 and the rounding are those
// of log_softmax. For int16 there are at most 2^16 values, and the terms are those of
// pl_log_softmax_s16.
PL_MUST_USE pl_status pl_logsumexp_s8(const pl_context *ctx, const pl_reduce_params *params,
                                      const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_logsumexp_s16(const pl_context *ctx, const pl_reduce_params *params,
                                       const pl_reduce_dims *dims, const pl_reduce_data *data);

// output = saturate(requantize(s << fraction_bits) + output_zero_point). s is the running sum of
// input - input_zero_point over the only reduced dimension, the innermost, up to and including each
// value. The output has the input's shape, and may alias the input. For int16 the zero points and
// fraction_bits are 0. The sum is then requantized as in kernels/common/wide.h.
PL_MUST_USE pl_status pl_cumsum_s8(const pl_context *ctx, const pl_reduce_params *params,
                                   const pl_reduce_dims *dims, const pl_reduce_data *data);
PL_MUST_USE pl_status pl_cumsum_s16(const pl_context *ctx, const pl_reduce_params *params,
                                    const pl_reduce_dims *dims, const pl_reduce_data *data);

#endif  // KERNELS_REDUCE_REDUCE_H_
