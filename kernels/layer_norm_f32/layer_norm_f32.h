// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LAYER_NORM_F32_LAYER_NORM_F32_H_
#define KERNELS_LAYER_NORM_F32_LAYER_NORM_F32_H_

#include "kernels/common/types.h"

typedef struct {
  float epsilon;
} pl_layer_norm_f32_params;

typedef struct {
  int32_t rows;
  int32_t size;  // of a row
} pl_layer_norm_f32_dims;

typedef struct {
  const float *input;   // [rows, size]
  const float *weight;  // [size], or null for 1
  const float *bias;    // [size], or null for 0
  float *output;        // [rows, size]
  float *mean;          // [rows]
  float *rstd;          // [rows]: 1 / sqrt(variance + epsilon)
} pl_layer_norm_f32_data;

// output = (input - mean) * rstd * weight + bias, in float32. Mean and variance (biased) are those
// of each row. torch's native_layer_norm.
PL_MUST_USE pl_status pl_layer_norm_f32(const pl_context *ctx,
                                        const pl_layer_norm_f32_params *params,
                                        const pl_layer_norm_f32_dims *dims,
                                        const pl_layer_norm_f32_data *data);

#endif  // KERNELS_LAYER_NORM_F32_LAYER_NORM_F32_H_
