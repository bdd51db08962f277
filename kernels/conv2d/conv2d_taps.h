// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_CONV2D_CONV2D_TAPS_H_
#define KERNELS_CONV2D_CONV2D_TAPS_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t stride_h;
  int32_t stride_w;
  int32_t pad_top;
  int32_t pad_left;
  int32_t dilation_h;
  int32_t dilation_w;
  int32_t input_zero_point;  // the value of padding
  int32_t activation_min;
  int32_t activation_max;
} pl_conv2d_taps_params;

typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;  // over all groups
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t output_h;
  int32_t output_w;
  int32_t output_c;  // over all groups
  int32_t groups;
  int32_t expanded;  // output channels of a block, see kernels/common/gemm_taps_s8.h
  int32_t band;      // windows computed for all channels of a group before the next ones, even
} pl_conv2d_taps_dims;

typedef struct {
  const int8_t *input;   // [batches, input_h, input_w, input_c]
  const int8_t *weight;  // packed, see kernels/common/gemm_taps_s8.h, one matrix a group
  const int32_t *stage;  // [output_c][PL_TAPS_STAGE]
  int8_t *output;        // [batches, output_h, output_w, output_c]
} pl_conv2d_taps_data;

// pl_conv2d_s8 on cores with 16-bit Thumb instructions, for weights and factors that
// kernels/common/gemm_taps.py finds exact. For one group and adjacent taps of a row: dilation_w or
// kernel_w is 1. Scratch holds two windows and the weights of a block in words, and two windows in
// bytes. The values of a window are rounded up to a multiple of 4.
PL_MUST_USE pl_status pl_conv2d_taps_s8(const pl_context *ctx, const pl_conv2d_taps_params *params,
                                        const pl_conv2d_taps_dims *dims,
                                        const pl_conv2d_taps_data *data);

// The same for results below the output's zero point; stage is [output_c][PL_TAPS_SIGNED_STAGE].
PL_MUST_USE pl_status pl_conv2d_signed_taps_s8(const pl_context *ctx,
                                               const pl_conv2d_taps_params *params,
                                               const pl_conv2d_taps_dims *dims,
                                               const pl_conv2d_taps_data *data);

// Both for any groups and dilation.
PL_MUST_USE pl_status pl_conv2d_spread_taps_s8(const pl_context *ctx,
                                               const pl_conv2d_taps_params *params,
                                               const pl_conv2d_taps_dims *dims,
                                               const pl_conv2d_taps_data *data);
PL_MUST_USE pl_status pl_conv2d_signed_spread_taps_s8(const pl_context *ctx,
                                                      const pl_conv2d_taps_params *params,
                                                      const pl_conv2d_taps_dims *dims,
                                                      const pl_conv2d_taps_data *data);

#endif  // KERNELS_CONV2D_CONV2D_TAPS_H_
