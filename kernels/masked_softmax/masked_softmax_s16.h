// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MASKED_SOFTMAX_MASKED_SOFTMAX_S16_H_
#define KERNELS_MASKED_SOFTMAX_MASKED_SOFTMAX_S16_H_

#include "kernels/masked_softmax/masked_softmax.h"

typedef struct pl_masked_softmax_s16_params pl_masked_softmax_s16_params;  // none: null
typedef pl_masked_softmax_dims pl_masked_softmax_s16_dims;                 // size at most 2^16

typedef struct {
  const int16_t *input;      // [rows..., size]
  const uint8_t *mask;       // [rows..., size], 0 where an element does not count; rows may repeat
  const int32_t *exp_table;  // [512], as of pl_softmax_s16
  int16_t *output;           // [rows..., size]; may be the input
} pl_masked_softmax_s16_data;

// pl_softmax_s16 over the elements of each row kept by the mask. All other elements, and rows
// without any, give 0.
PL_MUST_USE pl_status pl_masked_softmax_s16(const pl_context *ctx,
                                            const pl_masked_softmax_s16_params *params,
                                            const pl_masked_softmax_s16_dims *dims,
                                            const pl_masked_softmax_s16_data *data);

#endif  // KERNELS_MASKED_SOFTMAX_MASKED_SOFTMAX_S16_H_
