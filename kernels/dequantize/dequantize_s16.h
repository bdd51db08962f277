// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_DEQUANTIZE_DEQUANTIZE_S16_H_
#define KERNELS_DEQUANTIZE_DEQUANTIZE_S16_H_

#include "kernels/dequantize/dequantize.h"

typedef pl_dequantize_params pl_dequantize_s16_params;  // the zero point is 0
typedef pl_dequantize_dims pl_dequantize_s16_dims;

typedef struct {
  const int16_t *input;  // [size]
  float *output;         // [size]
} pl_dequantize_s16_data;

// output = input * scale in float32.
PL_MUST_USE pl_status pl_dequantize_s16_f32(const pl_context *ctx,
                                            const pl_dequantize_s16_params *params,
                                            const pl_dequantize_s16_dims *dims,
                                            const pl_dequantize_s16_data *data);

#endif  // KERNELS_DEQUANTIZE_DEQUANTIZE_S16_H_
