// SPDX-License-Identifier: Apache-2.0
//
// A convolution of a virtual concat: im2col windows are read from its pieces. A piece may be an
// image to be repeated first (nearest upsampling). It takes more instructions than a convolution,
// and less memory than concat and convolution.
#ifndef KERNELS_CONV2D_PIECES_CONV2D_PIECES_H_
#define KERNELS_CONV2D_PIECES_CONV2D_PIECES_H_

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
} pl_conv2d_pieces_params;

typedef struct {
  int32_t pieces;
  int32_t input_h;  // of the concatenation
  int32_t input_w;
  int32_t input_c;
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t output_h;
  int32_t output_w;
  int32_t output_c;
  int32_t gathered;  // im2col windows multiplied together
  int32_t row;       // first row to compute, within the whole output
} pl_conv2d_pieces_dims;

// Channels of the concatenation, in the order of the pieces. Each row of a piece counts 1 <<
// shift_h times, each pixel of a row 1 << shift_w times.
typedef struct {
  const int8_t *address;  // [input_h >> shift_h, input_w >> shift_w, channels], starting at the row
                          // with the first row of the first window
  int32_t channels;
  int32_t shift_h;
  int32_t shift_w;
} pl_conv2d_piece;

// The constants are packed for the ISA, see kernels/common/gemm_s8.h.
typedef struct {
  const pl_conv2d_piece *pieces;  // [pieces]
  const int8_t *weight;           // of shape [output_c, kernel_w, kernel_h, input_c]
  const int32_t *bias;            // [output_c], with the input's zero point folded in
  const int32_t *multiplier;      // [output_c]
  const int32_t *shift;           // [output_c]
  int8_t *output;                 // [output_h, output_w, output_c]
} pl_conv2d_pieces_data;

// pl_conv2d_s8 over the virtual concat, for one image. Scratch holds the im2col columns of
// `gathered` windows of an output row, kernel_h * input_c bytes each. The first window needs
// kernel_w columns, and every other one stride_w / dilation_w. If that is no integer, it is one
// window. With less scratch it returns PL_ERROR_SCRATCH_SIZE. TFLite int8 CONV_2D.
PL_MUST_USE pl_status pl_conv2d_pieces_s8(const pl_context *ctx,
                                          const pl_conv2d_pieces_params *params,
                                          const pl_conv2d_pieces_dims *dims,
                                          const pl_conv2d_pieces_data *data);

// The same on cores with the DSP extension, where two weights fit into 16 bits: constants are
// packed for kernels/common/gemm_pairs_s8.h, a window as one run. Scratch is for four widened
// windows, too.
PL_MUST_USE pl_status pl_conv2d_pieces_pairs_s8(const pl_context *ctx,
                                                const pl_conv2d_pieces_params *params,
                                                const pl_conv2d_pieces_dims *dims,
                                                const pl_conv2d_pieces_data *data);

// The same for all sums and weights, see pl_multiply_wide_pairs_s8.
PL_MUST_USE pl_status pl_conv2d_pieces_wide_pairs_s8(const pl_context *ctx,
                                                     const pl_conv2d_pieces_params *params,
                                                     const pl_conv2d_pieces_dims *dims,
                                                     const pl_conv2d_pieces_data *data);

// The first on cores with Helium, where no factor multiplies: constants are packed for
// kernels/common/gemm_blocks_s8.h.
PL_MUST_USE pl_status pl_conv2d_pieces_blocks_s8(const pl_context *ctx,
                                                 const pl_conv2d_pieces_params *params,
                                                 const pl_conv2d_pieces_dims *dims,
                                                 const pl_conv2d_pieces_data *data);

#endif  // KERNELS_CONV2D_PIECES_CONV2D_PIECES_H_
