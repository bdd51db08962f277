// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_SOFTMAX_SOFTMAX_S16_H_
#define KERNELS_SOFTMAX_SOFTMAX_S16_H_

#include "kernels/softmax/softmax.h"

typedef struct pl_softmax_s16_params pl_softmax_s16_params;  // none: null
typedef pl_softmax_dims pl_softmax_s16_dims;                 // size is at most 2^16

typedef struct {
  const int16_t *input;
  const int32_t *exp_table;  // [512]: exp(-256 * i * scale), exp(-j * scale), 30 fraction bits
  int16_t *output;           // may be the input
} pl_softmax_s16_data;

// The softmax of int16 values in steps of 2^-15, rounded to nearest, at most 32767; the arithmetic
// is in kernels/common/wide_exponentials.h.
PL_MUST_USE pl_status pl_softmax_s16(const pl_context *ctx, const pl_softmax_s16_params *params,
                                     const pl_softmax_s16_dims *dims,
                                     const pl_softmax_s16_data *data);

#endif  // KERNELS_SOFTMAX_SOFTMAX_S16_H_
