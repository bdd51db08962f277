// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_CONV2D_CONV2D_S16_H_
#define KERNELS_CONV2D_CONV2D_S16_H_

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
} pl_conv2d_s16_params;

typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t output_h;
  int32_t output_w;
  int32_t output_c;
  int32_t groups;
} pl_conv2d_s16_dims;

typedef struct {
  const int16_t *input;       // [batches, input_h, input_w, input_c]
  const int8_t *weight;       // [output_c, kernel_h, kernel_w, input_c / groups]
  const int32_t *bias;        // [output_c]; factors for pl_conv2d_blocks_s16
  const int32_t *multiplier;  // [output_c]
  const int32_t *shift;       // [output_c]
  int16_t *output;            // [batches, output_h, output_w, output_c]
} pl_conv2d_s16_data;

// output = clamp(bias + sum of input * weight over the window), requantized as in
// kernels/common/wide.h. Taps outside of the input are 0. A depthwise convolution has as many
// groups as channels.
PL_MUST_USE pl_status pl_conv2d_s16(const pl_context *ctx, const pl_conv2d_s16_params *params,
                                    const pl_conv2d_s16_dims *dims, const pl_conv2d_s16_data *data);

// The same where no sum leaves 32 bits, with shifts below -1; `bias` is the
// factors of all groups as kernels/common/dots_s16.h has them.
PL_MUST_USE pl_status pl_conv2d_blocks_s16(const pl_context *ctx,
                                           const pl_conv2d_s16_params *params,
                                           const pl_conv2d_s16_dims *dims,
                                           const pl_conv2d_s16_data *data);

#endif  // KERNELS_CONV2D_CONV2D_S16_H_
