// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_CONVOLUTION_F32_CONVOLUTION_F32_H_
#define KERNELS_CONVOLUTION_F32_CONVOLUTION_F32_H_

#include <stdbool.h>

#include "kernels/common/types.h"

#define PL_CONVOLUTION_AXES 3  // depth, height, width; fewer of them are of size 1 in front

typedef struct {
  int32_t stride[PL_CONVOLUTION_AXES];
  int32_t padding[PL_CONVOLUTION_AXES];
  int32_t dilation[PL_CONVOLUTION_AXES];
  bool transposed;
} pl_convolution_f32_params;

typedef struct {
  int32_t batches;
  int32_t groups;
  int32_t inputs;   // channels of a group
  int32_t outputs;  // likewise
  int32_t input[PL_CONVOLUTION_AXES];
  int32_t kernel[PL_CONVOLUTION_AXES];
  int32_t output[PL_CONVOLUTION_AXES];
} pl_convolution_f32_dims;

typedef struct {
  const float *input;   // [batches, groups * inputs, input]
  const float *weight;  // [groups * outputs, inputs, kernel]; transposed the channels are swapped
  const float *bias;    // [groups * outputs], or null
  float *output;        // [batches, groups * outputs, output]
} pl_convolution_f32_data;

// torch's convolution in float32; sums start with the bias and run over input channels, then taps,
// in order.
PL_MUST_USE pl_status pl_convolution_f32(const pl_context *ctx,
                                         const pl_convolution_f32_params *params,
                                         const pl_convolution_f32_dims *dims,
                                         const pl_convolution_f32_data *data);

#endif  // KERNELS_CONVOLUTION_F32_CONVOLUTION_F32_H_
