// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_SOFTMAX_SOFTMAX_H_
#define KERNELS_SOFTMAX_SOFTMAX_H_

#include "kernels/common/types.h"

// Null for pl_softmax_s8 and pl_softmax_rows_s8.
typedef struct {
  uint32_t steps;  // 1 / output scale
} pl_softmax_params;

// Input and output are [outer, size, inner]; the softmax runs over size.
typedef struct {
  int32_t outer;
  int32_t size;
  int32_t inner;
} pl_softmax_dims;

typedef struct {
  const int8_t *input;
  const int32_t *exp_table;  // [256]: exp(-d * input scale) in fixed point, entry 0 the largest
  int8_t *output;            // may be the input
} pl_softmax_data;

// output = min(127, floor((256 * e + S / 2) / S) - 128) with e = exp_table[max - input] and S their
// sum. 256 * e + S / 2 must fit in uint32. The output's scale is 1/256, its zero point -128, same
// as in TFLite.
PL_MUST_USE pl_status pl_softmax_s8(const pl_context *ctx, const pl_softmax_params *params,
                                    const pl_softmax_dims *dims, const pl_softmax_data *data);

// The same in more code, on cores with the DSP extension or Helium.
PL_MUST_USE pl_status pl_softmax_rows_s8(const pl_context *ctx, const pl_softmax_params *params,
                                         const pl_softmax_dims *dims, const pl_softmax_data *data);

// pl_softmax_s8 with an output of scale 1 / steps: min(127, floor((steps * e + S / 2) / S) - 128).
// steps * e + S / 2 must fit in uint32.
PL_MUST_USE pl_status pl_softmax_steps_s8(const pl_context *ctx, const pl_softmax_params *params,
                                          const pl_softmax_dims *dims, const pl_softmax_data *data);
PL_MUST_USE pl_status pl_softmax_steps_rows_s8(const pl_context *ctx,
                                               const pl_softmax_params *params,
                                               const pl_softmax_dims *dims,
                                               const pl_softmax_data *data);

#endif  // KERNELS_SOFTMAX_SOFTMAX_H_
