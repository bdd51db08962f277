// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_DEQUANTIZE_DEQUANTIZE_H_
#define KERNELS_DEQUANTIZE_DEQUANTIZE_H_

#include "kernels/common/types.h"

typedef struct {
  float scale;
  int32_t zero_point;
} pl_dequantize_params;

typedef struct {
  int32_t size;
} pl_dequantize_dims;

typedef struct {
  const int8_t *input;  // [size]
  float *output;        // [size]
} pl_dequantize_data;

// output = (input - zero_point) * scale in float32.
// torch's quantized_decomposed.dequantize_per_tensor.
PL_MUST_USE pl_status pl_dequantize_s8_f32(const pl_context *ctx,
                                           const pl_dequantize_params *params,
                                           const pl_dequantize_dims *dims,
                                           const pl_dequantize_data *data);

#endif  // KERNELS_DEQUANTIZE_DEQUANTIZE_H_
