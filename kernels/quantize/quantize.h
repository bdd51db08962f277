// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_QUANTIZE_QUANTIZE_H_
#define KERNELS_QUANTIZE_QUANTIZE_H_

#include "kernels/common/types.h"

typedef struct {
  float inverse_scale;  // 1 / scale, divided in float32
  int32_t zero_point;
} pl_quantize_params;

typedef struct {
  int32_t size;
} pl_quantize_dims;

typedef struct {
  const float *input;  // [size]
  int8_t *output;      // [size]
} pl_quantize_data;

// output = saturate(rint(input * inverse_scale) + zero_point), ties to even; NaN gives zero_point.
// torch's quantized_decomposed.quantize_per_tensor.
PL_MUST_USE pl_status pl_quantize_f32_s8(const pl_context *ctx, const pl_quantize_params *params,
                                         const pl_quantize_dims *dims,
                                         const pl_quantize_data *data);

#endif  // KERNELS_QUANTIZE_QUANTIZE_H_
