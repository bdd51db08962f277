// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_DEPTHWISE_CONV2D_DEPTHWISE_CONV2D_S16_H_
#define KERNELS_DEPTHWISE_CONV2D_DEPTHWISE_CONV2D_S16_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t stride_h;
  int32_t stride_w;
  int32_t pad_top;
  int32_t pad_left;
  int32_t dilation_h;
  int32_t dilation_w;
  int32_t activation_min;
  int32_t activation_max;
} pl_depthwise_conv2d_s16_params;

typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t output_h;
  int32_t output_w;
} pl_depthwise_conv2d_s16_dims;

typedef struct {
  const int16_t *input;       // [batches, input_h, input_w, input_c]
  const int8_t *weight;       // [kernel_h, kernel_w, input_c]
  const int32_t *bias;        // [input_c]
  const int32_t *multiplier;  // [input_c]
  const int32_t *right;       // [input_c], -1 - shift, in [1, 30]
  int16_t *output;            // [batches, output_h, output_w, input_c]
} pl_depthwise_conv2d_s16_data;

// Same as pl_conv2d_s16 with as many groups as channels, if no sum exceeds 32 bits.
PL_MUST_USE pl_status pl_depthwise_conv2d_s16(const pl_context *ctx,
                                              const pl_depthwise_conv2d_s16_params *params,
                                              const pl_depthwise_conv2d_s16_dims *dims,
                                              const pl_depthwise_conv2d_s16_data *data);

#endif  // KERNELS_DEPTHWISE_CONV2D_DEPTHWISE_CONV2D_S16_H_
