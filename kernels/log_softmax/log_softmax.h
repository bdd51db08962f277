// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LOG_SOFTMAX_LOG_SOFTMAX_H_
#define KERNELS_LOG_SOFTMAX_LOG_SOFTMAX_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t fraction_bits;     // fraction bits of exp_table
  int32_t input_multiplier;  // for (input - max) << 20
  int32_t input_shift;
  int32_t log_multiplier;  // for log2 in Q16
  int32_t log_shift;
  int32_t output_zero_point;
} pl_log_softmax_params;

// Input and output are [outer, size, inner]; the softmax runs over size.
typedef struct {
  int32_t outer;
  int32_t size;
  int32_t inner;
} pl_log_softmax_dims;

typedef struct {
  const int8_t *input;
  const int32_t *exp_table;  // [256]: exp(-d * input scale), entry 0 is 2^fraction_bits
  int8_t *output;            // may be the input
} pl_log_softmax_data;

// output = saturate((requantize((input - max) << 20) - requantize(log2(S))) / 2^10 + zero_point),
// where S is the sum of exp_table[max - input], its log2 in Q16 by a table of 128 segments, and the
// division rounds to nearest, ties away from zero: the scaled terms have 10 guard bits. The rule is
// the dialect's (kernels/log_softmax/op.py), the output's quantization free.
PL_MUST_USE pl_status pl_log_softmax_s8(const pl_context *ctx, const pl_log_softmax_params *params,
                                        const pl_log_softmax_dims *dims,
                                        const pl_log_softmax_data *data);

#endif  // KERNELS_LOG_SOFTMAX_LOG_SOFTMAX_H_
