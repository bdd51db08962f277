// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_QUANTIZE_QUANTIZE_S16_H_
#define KERNELS_QUANTIZE_QUANTIZE_S16_H_

#include "kernels/quantize/quantize.h"

typedef pl_quantize_params pl_quantize_s16_params;  // the zero point is 0
typedef pl_quantize_dims pl_quantize_s16_dims;

typedef struct {
  const float *input;  // [size]
  int16_t *output;     // [size]
} pl_quantize_s16_data;

// pl_quantize_f32_s8 to int16.
PL_MUST_USE pl_status pl_quantize_f32_s16(const pl_context *ctx,
                                          const pl_quantize_s16_params *params,
                                          const pl_quantize_s16_dims *dims,
                                          const pl_quantize_s16_data *data);

#endif  // KERNELS_QUANTIZE_QUANTIZE_S16_H_
