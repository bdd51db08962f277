// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_TRANSPOSE_CONV2D_TRANSPOSE_CONV2D_H_
#define KERNELS_TRANSPOSE_CONV2D_TRANSPOSE_CONV2D_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t stride_h;
  int32_t stride_w;
  int32_t dilation_h;        // for the taps of a phase
  int32_t dilation_w;        // likewise
  int32_t first_row;         // first output row to compute, with output_h rows from there on
  int32_t input_zero_point;  // the value of taps outside of the input
  int32_t output_zero_point;
  int32_t activation_min;
  int32_t activation_max;
} pl_transpose_conv2d_params;

typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;  // over all groups
  int32_t output_h;
  int32_t output_w;
  int32_t output_c;  // over all groups
  int32_t groups;
  int32_t packed_c;        // packed output channels of a group
  int32_t gathered;        // im2col windows multiplied together
  int32_t windows_offset;  // bytes of scratch before them, for the product
  int32_t scratch_bytes;   // with as many of the largest windows, or their columns
  int32_t phases;
} pl_transpose_conv2d_dims;

// Output pixels at multiples of the stride: a convolution of the input with the kernel taps that
// reach them.
typedef struct {
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t output_y;  // the first pixel
  int32_t output_x;
  int32_t input_y;  // its first tap; the next pixel's is one further
  int32_t input_x;
} pl_transpose_conv2d_phase;

// Weight and bias hold the phases one after the other. Each phase is packed as for conv2d, with
// shape [output_c, kernel_h, kernel_w, input_c / groups].
typedef struct {
  const int8_t *input;                      // [batches, input_h, input_w, input_c]
  const pl_transpose_conv2d_phase *phases;  // [phases]: together every pixel of the output
  const int8_t *weight;
  const int32_t *bias;        // [phases, output_c], with the input's zero point folded in
  const int32_t *multiplier;  // [output_c]
  const int32_t *shift;       // [output_c]
  int8_t *output;             // [batches, output_h, output_w, output_c]
} pl_transpose_conv2d_data;

// output = clamp(requantize(bias + sum of input * weight over the taps that reach the pixel) +
// output_zero_point). Nothing is scattered: each output pixel is computed once. Windows are copied
// to scratch (im2col) and multiplied by the weight matrix of their phase and group. With less
// scratch it returns PL_ERROR_SCRATCH_SIZE. TFLite int8 TRANSPOSE_CONV.
PL_MUST_USE pl_status pl_transpose_conv2d_s8(const pl_context *ctx,
                                             const pl_transpose_conv2d_params *params,
                                             const pl_transpose_conv2d_dims *dims,
                                             const pl_transpose_conv2d_data *data);

// Same bits with the products of kernels/common/gemm_blocks_s8.h, on cores with Helium. All
// constants are in weight and bias. Weights are of shape [output_c, kernel_w, kernel_h, input_c /
// groups]. Windows of one pixel row are read in place. For other windows scratch holds the im2col
// columns, kernel_h * input_c / groups bytes each. `gathered` windows share them if taps are
// adjacent.
PL_MUST_USE pl_status pl_transpose_conv2d_blocks_s8(const pl_context *ctx,
                                                    const pl_transpose_conv2d_params *params,
                                                    const pl_transpose_conv2d_dims *dims,
                                                    const pl_transpose_conv2d_data *data);

// The same for a last block of one or two channels.
PL_MUST_USE pl_status pl_transpose_conv2d_last_blocks_s8(const pl_context *ctx,
                                                         const pl_transpose_conv2d_params *params,
                                                         const pl_transpose_conv2d_dims *dims,
                                                         const pl_transpose_conv2d_data *data);

// Same with the products of gemm_pairs_s8.h, on cores with the DSP extension, for im2col windows.
PL_MUST_USE pl_status pl_transpose_conv2d_pairs_s8(const pl_context *ctx,
                                                   const pl_transpose_conv2d_params *params,
                                                   const pl_transpose_conv2d_dims *dims,
                                                   const pl_transpose_conv2d_data *data);
PL_MUST_USE pl_status pl_transpose_conv2d_wide_pairs_s8(const pl_context *ctx,
                                                        const pl_transpose_conv2d_params *params,
                                                        const pl_transpose_conv2d_dims *dims,
                                                        const pl_transpose_conv2d_data *data);

// Same with the products of gemm_taps_s8.h, on cores with 16-bit Thumb instructions. The last stage
// is in bias, [phases, output_c][PL_TAPS_STAGE or PL_TAPS_SIGNED_STAGE]. Scratch before the windows
// holds two of them and the weights of a block of channels in words.
PL_MUST_USE pl_status pl_transpose_conv2d_taps_s8(const pl_context *ctx,
                                                  const pl_transpose_conv2d_params *params,
                                                  const pl_transpose_conv2d_dims *dims,
                                                  const pl_transpose_conv2d_data *data);
PL_MUST_USE pl_status pl_transpose_conv2d_signed_taps_s8(const pl_context *ctx,
                                                         const pl_transpose_conv2d_params *params,
                                                         const pl_transpose_conv2d_dims *dims,
                                                         const pl_transpose_conv2d_data *data);

#endif  // KERNELS_TRANSPOSE_CONV2D_TRANSPOSE_CONV2D_H_
