// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MASKED_SOFTMAX_MASKED_SOFTMAX_H_
#define KERNELS_MASKED_SOFTMAX_MASKED_SOFTMAX_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

typedef struct {
  uint32_t steps;  // output steps per 1: its scale is 1 / steps
} pl_masked_softmax_params;

typedef struct {
  pl_broadcast_dims rows;  // a is the input, b the mask; the innermost dimension has size 1
  int32_t size;            // of a row
} pl_masked_softmax_dims;

typedef struct {
  const int8_t *input;       // [rows..., size]
  const uint8_t *mask;       // [rows..., size], 0 where an element does not count; rows may repeat
  const int32_t *exp_table;  // [256], as of pl_softmax_steps_s8
  int8_t *output;            // [rows..., size]; may be the input
} pl_masked_softmax_data;

// pl_softmax_steps_s8 over the elements of each row kept by the mask. All other elements, and rows
// without any, give -128 (the value 0).
PL_MUST_USE pl_status pl_masked_softmax_s8(const pl_context *ctx,
                                           const pl_masked_softmax_params *params,
                                           const pl_masked_softmax_dims *dims,
                                           const pl_masked_softmax_data *data);

#endif  // KERNELS_MASKED_SOFTMAX_MASKED_SOFTMAX_H_
