// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_CONV2D_CONV2D_H_
#define KERNELS_CONV2D_CONV2D_H_

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
} pl_conv2d_params;

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
  int32_t packed_c;  // packed output channels of a group
  int32_t gathered;  // im2col windows multiplied together
} pl_conv2d_dims;

// The constants are packed for the ISA, one matrix a group, see kernels/common/gemm_s8.h.
typedef struct {
  const int8_t *input;        // [batches, input_h, input_w, input_c]
  const int8_t *weight;       // of shape [output_c, kernel_h, kernel_w, input_c / groups]
  const int32_t *bias;        // [output_c], with the input's zero point folded in
  const int32_t *multiplier;  // [output_c]
  const int32_t *shift;       // [output_c]
  int8_t *output;             // [batches, output_h, output_w, output_c]
} pl_conv2d_data;

// output = clamp(requantize(bias + sum of input * weight over the window) + output_zero_point).
// Taps outside of the input are read as its zero point. For one group and adjacent taps of a row:
// dilation_w or kernel_w is 1. Windows are copied to scratch (im2col). Scratch holds `gathered`
// windows of kernel_h * kernel_w * input_c / groups bytes each. They are multiplied by the weight
// matrix of their group. With less scratch it returns PL_ERROR_SCRATCH_SIZE. TFLite int8 CONV_2D.
PL_MUST_USE pl_status pl_conv2d_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                   const pl_conv2d_dims *dims, const pl_conv2d_data *data);

// The same for any groups and dilation.
PL_MUST_USE pl_status pl_conv2d_spread_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                          const pl_conv2d_dims *dims, const pl_conv2d_data *data);

// The first where every window is one run of the input: no padding, one group, and windows of one
// dense row or of whole rows. Needs no scratch.
PL_MUST_USE pl_status pl_conv2d_runs_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                        const pl_conv2d_dims *dims, const pl_conv2d_data *data);

// pl_conv2d_s8 by output rows, for factors within the bounds of pl_requantize_down. multiplier is
// [output_c][multiplier, right]. There is no shift, and weights are not packed. Groups have one
// channel, or taps of a row are adjacent. `gathered` is 0 if groups have one channel and no window
// reaches into padding. Otherwise it is 1, and scratch holds a row of windows. This takes kernel_h
// * ((output_w - 1) * stride_w + (kernel_w - 1) * dilation_w + 1) pixels. They have all channels,
// or those of one group if a group has several.
PL_MUST_USE pl_status pl_conv2d_rows_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                        const pl_conv2d_dims *dims, const pl_conv2d_data *data);

// pl_conv2d_s8 on cores with the DSP extension, for two weights within 16 bits. Constants are
// packed for kernels/common/gemm_pairs_s8.h, one matrix per group. Scratch holds four widened
// windows and `gathered` im2col windows. `gathered` is 1 if any window reaches into padding or is
// not one run per row, else 0. The im2col windows are as for pl_conv2d_s8.
PL_MUST_USE pl_status pl_conv2d_pairs_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                         const pl_conv2d_dims *dims, const pl_conv2d_data *data);

// The same for all sums and weights, see pl_multiply_wide_pairs_s8.
PL_MUST_USE pl_status pl_conv2d_wide_pairs_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                              const pl_conv2d_dims *dims,
                                              const pl_conv2d_data *data);

// Both for any windows.
PL_MUST_USE pl_status pl_conv2d_spread_pairs_s8(const pl_context *ctx,
                                                const pl_conv2d_params *params,
                                                const pl_conv2d_dims *dims,
                                                const pl_conv2d_data *data);
PL_MUST_USE pl_status pl_conv2d_spread_wide_pairs_s8(const pl_context *ctx,
                                                     const pl_conv2d_params *params,
                                                     const pl_conv2d_dims *dims,
                                                     const pl_conv2d_data *data);

// pl_conv2d_s8 on cores with Helium, for factors that do not multiply. Constants are packed for
// kernels/common/gemm_blocks_s8.h, one matrix per group. `gathered` is 0 as for pl_conv2d_runs_s8,
// or for one-pixel windows without padding, with any groups. Otherwise weights are of shape
// [output_c, kernel_w, kernel_h, input_c / groups]. Scratch then holds the columns of `gathered`
// windows of an output row, kernel_h * input_c / groups bytes each. The first window needs kernel_w
// columns, and every other one stride_w / dilation_w. If that is no integer, every other window
// with taps in the same columns needs stride_w.
PL_MUST_USE pl_status pl_conv2d_blocks_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                          const pl_conv2d_dims *dims, const pl_conv2d_data *data);

// The same for a last block of one or two channels.
PL_MUST_USE pl_status pl_conv2d_last_blocks_s8(const pl_context *ctx,
                                               const pl_conv2d_params *params,
                                               const pl_conv2d_dims *dims,
                                               const pl_conv2d_data *data);

#endif  // KERNELS_CONV2D_CONV2D_H_
