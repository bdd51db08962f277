// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LOG_SOFTMAX_LOG_SOFTMAX_S16_H_
#define KERNELS_LOG_SOFTMAX_LOG_SOFTMAX_S16_H_

#include "kernels/log_softmax/log_softmax.h"

typedef struct {
  int32_t input_multiplier;  // for (input - max) << 14
  int32_t input_shift;
  int32_t log_multiplier;  // for log2 in Q30
  int32_t log_shift;
} pl_log_softmax_s16_params;

typedef pl_log_softmax_dims pl_log_softmax_s16_dims;  // size is at most 2^16

typedef struct {
  const int16_t *input;
  const int32_t *exp_table;  // [512], see kernels/common/wide_exponentials.h
  int16_t *output;           // may be the input
} pl_log_softmax_s16_data;

// pl_log_softmax_s8 for int16. The two terms are scaled as in kernels/common/wide.h and have 10
// guard bits. Ties are rounded up. Both zero points are 0.
PL_MUST_USE pl_status pl_log_softmax_s16(const pl_context *ctx,
                                         const pl_log_softmax_s16_params *params,
                                         const pl_log_softmax_s16_dims *dims,
                                         const pl_log_softmax_s16_data *data);

#endif  // KERNELS_LOG_SOFTMAX_LOG_SOFTMAX_S16_H_
