// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_DEPTHWISE_CONV2D_DEPTHWISE_COLUMNS_H_
#define KERNELS_DEPTHWISE_CONV2D_DEPTHWISE_COLUMNS_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t stride_h;
  int32_t stride_w;
  int32_t pad_top;
  int32_t pad_left;
  int32_t dilation_h;
  int32_t dilation_w;
  int32_t input_zero_point;  // the value of padding
  int32_t output_zero_point;
  int32_t activation_min;
  int32_t activation_max;
} pl_depthwise_columns_params;

typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t output_h;
  int32_t output_w;
  int32_t scratch_bytes;
  int32_t repeats;  // output channels of an input channel
} pl_depthwise_columns_dims;

typedef struct {
  const int8_t *input;     // [batches, input_h, input_w, input_c]
  const int8_t *weight;    // [ceil(output_c / 4)][4][kernel_w][kernel_h]
  const int32_t *factors;  // [ceil(output_c / 4)][bias of four channels, multiplier of each]
  const int8_t *shift;     // [ceil(output_c / 4)][4]
  int8_t *output;          // [batches, output_h, output_w, output_c], output_c = input_c * repeats
} pl_depthwise_columns_data;

// pl_depthwise_conv2d_s8 on cores with Helium, for up to sixteen taps and shifts below 0. Channels
// go in fours. The last four are the last of the layer, even if the four before share some of them.
// If there are fewer than four, zeros fill the rest.
//
// Scratch holds up to sixteen channels of the columns of some windows, at least one window. It also
// holds 16 bytes after them, and 16 for each kernel row, or each tap if dilated in width. If
// scratch is smaller than a row of windows, all channels of some windows go before the next. With
// less it returns PL_ERROR_SCRATCH_SIZE.
PL_MUST_USE pl_status pl_depthwise_columns_s8(const pl_context *ctx,
                                              const pl_depthwise_columns_params *params,
                                              const pl_depthwise_columns_dims *dims,
                                              const pl_depthwise_columns_data *data);

// The same for more than sixteen taps.
PL_MUST_USE pl_status pl_depthwise_large_columns_s8(const pl_context *ctx,
                                                    const pl_depthwise_columns_params *params,
                                                    const pl_depthwise_columns_dims *dims,
                                                    const pl_depthwise_columns_data *data);

#endif  // KERNELS_DEPTHWISE_CONV2D_DEPTHWISE_COLUMNS_H_
