// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_DEPTHWISE_CONV2D_DEPTHWISE_CONV2D_H_
#define KERNELS_DEPTHWISE_CONV2D_DEPTHWISE_CONV2D_H_

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
} pl_depthwise_conv2d_params;

typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t output_h;
  int32_t output_w;
  int32_t scratch_bytes;  // one window, if any reaches into padding or is dilated in width; else 0
  int32_t repeats;        // output channels of an input channel, the channel multiplier
} pl_depthwise_conv2d_dims;

typedef struct {
  const int8_t *input;        // [batches, input_h, input_w, input_c]
  const int8_t *weight;       // [kernel_h, kernel_w, output_c], output_c = input_c * repeats
  const int32_t *bias;        // [output_c], with the input's zero point folded in
  const int32_t *multiplier;  // [output_c]
  const int32_t *shift;       // [output_c]
  int8_t *output;             // [batches, output_h, output_w, output_c]
} pl_depthwise_conv2d_data;

// output = clamp(requantize(bias + sum of input * weight over the window) + output_zero_point).
// Each output channel has one input channel. Taps outside of the input are read as its zero point.
// Windows that reach into padding are copied to scratch; those of a row together if scratch_bytes
// hold a row. No dilation in width. With less than scratch_bytes it returns PL_ERROR_SCRATCH_SIZE.
// TFLite int8 DEPTHWISE_CONV_2D.
PL_MUST_USE pl_status pl_depthwise_conv2d_s8(const pl_context *ctx,
                                             const pl_depthwise_conv2d_params *params,
                                             const pl_depthwise_conv2d_dims *dims,
                                             const pl_depthwise_conv2d_data *data);

// Same with any dilation: windows dilated in width are copied too.
PL_MUST_USE pl_status pl_depthwise_spread_s8(const pl_context *ctx,
                                             const pl_depthwise_conv2d_params *params,
                                             const pl_depthwise_conv2d_dims *dims,
                                             const pl_depthwise_conv2d_data *data);

// 3x3 on cores with 16-bit Thumb instructions, for repeats of 1, no dilation, stride 1 or, for the
// third and fourth, 2 in width, and factors that kernels/common/steps.py finds exact. The signed
// ones have results below the output's zero point. bias: [input_c][three weights in a word for each
// row, bias, limit, high, fine, offset], of the signed ones also `turn` and the difference of the
// offset (kernels/common/gemm_taps_s8.h). scratch_bytes hold rows of padded input: three for one
// row of the output, stride_h more for each other one computed with it.
PL_MUST_USE pl_status pl_depthwise_sliding_s8(const pl_context *ctx,
                                              const pl_depthwise_conv2d_params *params,
                                              const pl_depthwise_conv2d_dims *dims,
                                              const pl_depthwise_conv2d_data *data);
PL_MUST_USE pl_status pl_depthwise_sliding_signed_s8(const pl_context *ctx,
                                                     const pl_depthwise_conv2d_params *params,
                                                     const pl_depthwise_conv2d_dims *dims,
                                                     const pl_depthwise_conv2d_data *data);
PL_MUST_USE pl_status pl_depthwise_sliding_2_s8(const pl_context *ctx,
                                                const pl_depthwise_conv2d_params *params,
                                                const pl_depthwise_conv2d_dims *dims,
                                                const pl_depthwise_conv2d_data *data);
PL_MUST_USE pl_status pl_depthwise_sliding_2_signed_s8(const pl_context *ctx,
                                                       const pl_depthwise_conv2d_params *params,
                                                       const pl_depthwise_conv2d_dims *dims,
                                                       const pl_depthwise_conv2d_data *data);

// pl_depthwise_conv2d_s8 on cores with the DSP extension, for repeats of 1, at least four channels,
// and factors within the bounds of kernels/common/gemm_pairs_s8.h. Channels go in fours. The last
// four are the last of the layer, even if the four before share some of them.

// weight: [ceil(input_c / 4)][kernel_h][kernel_w][4]; bias: [ceil(input_c / 4)][bias of four
// channels, multiplier and right of each]. Scratch holds one window, if any reaches into padding.
// Windows dilated in width must not reach into padding.
PL_MUST_USE pl_status pl_depthwise_by_4_s8(const pl_context *ctx,
                                           const pl_depthwise_conv2d_params *params,
                                           const pl_depthwise_conv2d_dims *dims,
                                           const pl_depthwise_conv2d_data *data);

// The same for any windows.
PL_MUST_USE pl_status pl_depthwise_spread_by_4_s8(const pl_context *ctx,
                                                  const pl_depthwise_conv2d_params *params,
                                                  const pl_depthwise_conv2d_dims *dims,
                                                  const pl_depthwise_conv2d_data *data);

// 3x3, stride 1 in width, no dilation, output_w at least 2. bias: [4 * ceil(input_c /
// 4)][bytes w0 w1 w1 w2 of three rows of taps, bias, multiplier, right]. Scratch is for rows of
// four channels in 16 bits: at least those of one row of the output, the more the less is copied
// twice.
PL_MUST_USE pl_status pl_depthwise_planes_s8(const pl_context *ctx,
                                             const pl_depthwise_conv2d_params *params,
                                             const pl_depthwise_conv2d_dims *dims,
                                             const pl_depthwise_conv2d_data *data);

// The same with an output zero point of -128, for strides 2 and 3, and for both.
PL_MUST_USE pl_status pl_depthwise_planes_lowest_s8(const pl_context *ctx,
                                                    const pl_depthwise_conv2d_params *params,
                                                    const pl_depthwise_conv2d_dims *dims,
                                                    const pl_depthwise_conv2d_data *data);
PL_MUST_USE pl_status pl_depthwise_planes_2_s8(const pl_context *ctx,
                                               const pl_depthwise_conv2d_params *params,
                                               const pl_depthwise_conv2d_dims *dims,
                                               const pl_depthwise_conv2d_data *data);
PL_MUST_USE pl_status pl_depthwise_planes_2_lowest_s8(const pl_context *ctx,
                                                      const pl_depthwise_conv2d_params *params,
                                                      const pl_depthwise_conv2d_dims *dims,
                                                      const pl_depthwise_conv2d_data *data);
PL_MUST_USE pl_status pl_depthwise_planes_3_s8(const pl_context *ctx,
                                               const pl_depthwise_conv2d_params *params,
                                               const pl_depthwise_conv2d_dims *dims,
                                               const pl_depthwise_conv2d_data *data);
PL_MUST_USE pl_status pl_depthwise_planes_3_lowest_s8(const pl_context *ctx,
                                                      const pl_depthwise_conv2d_params *params,
                                                      const pl_depthwise_conv2d_dims *dims,
                                                      const pl_depthwise_conv2d_data *data);

// Windows of any size, stride 1 or 2 in width, no dilation in width. weight and bias as for
// pl_depthwise_by_4_s8. Scratch holds the taps of a channel in words of two. It also holds rows of
// four channels as above, those of four outputs or eight or more.
PL_MUST_USE pl_status pl_depthwise_windows_s8(const pl_context *ctx,
                                              const pl_depthwise_conv2d_params *params,
                                              const pl_depthwise_conv2d_dims *dims,
                                              const pl_depthwise_conv2d_data *data);

// The same along columns: dims and params have heights in place of widths, and widths of heights.
PL_MUST_USE pl_status pl_depthwise_turned_windows_s8(const pl_context *ctx,
                                                     const pl_depthwise_conv2d_params *params,
                                                     const pl_depthwise_conv2d_dims *dims,
                                                     const pl_depthwise_conv2d_data *data);

// pl_depthwise_windows_s8 for fewer than four channels, with any repeats. Missing channels have
// constants without effect.
PL_MUST_USE pl_status pl_depthwise_few_windows_s8(const pl_context *ctx,
                                                  const pl_depthwise_conv2d_params *params,
                                                  const pl_depthwise_conv2d_dims *dims,
                                                  const pl_depthwise_conv2d_data *data);

// Same on cores with Helium, for repeats of 1, weights above -128 and shifts below 0, directly from
// the input and without scratch. Channels go in groups of sixteen, and the last eight or fewer as
// one group of eight. weight: [groups][kernel_h][kernel_w][channels of the group]; bias:
// [eights][bias, multiplier, shift][8 in the order of their sums].
PL_MUST_USE pl_status pl_depthwise_direct_s8(const pl_context *ctx,
                                             const pl_depthwise_conv2d_params *params,
                                             const pl_depthwise_conv2d_dims *dims,
                                             const pl_depthwise_conv2d_data *data);

#endif  // KERNELS_DEPTHWISE_CONV2D_DEPTHWISE_CONV2D_H_
