// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_TRANSPOSE_CONV2D_TRANSPOSE_CONV2D_S16_H_
#define KERNELS_TRANSPOSE_CONV2D_TRANSPOSE_CONV2D_S16_H_

#include "kernels/transpose_conv2d/transpose_conv2d.h"

typedef struct {
  int32_t stride_h;
  int32_t stride_w;
  int32_t dilation_h;  // for the taps of a phase
  int32_t dilation_w;  // likewise
  int32_t first_row;   // first output row to compute, with output_h rows from there on
  int32_t activation_min;
  int32_t activation_max;
} pl_transpose_conv2d_s16_params;

typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;  // over all groups
  int32_t output_h;
  int32_t output_w;
  int32_t output_c;  // over all groups
  int32_t groups;
  int32_t phases;
} pl_transpose_conv2d_s16_dims;

typedef struct {
  const int16_t *input;                     // [batches, input_h, input_w, input_c]
  const pl_transpose_conv2d_phase *phases;  // [phases]: together every pixel of the output
  const int8_t *weight;       // per phase [output_c, kernel_h, kernel_w, input_c / groups]
  const int32_t *bias;        // [output_c]; factors for pl_transpose_conv2d_blocks_s16
  const int32_t *multiplier;  // [output_c]
  const int32_t *shift;       // [output_c]
  int16_t *output;            // [batches, output_h, output_w, output_c]
} pl_transpose_conv2d_s16_data;

// pl_transpose_conv2d_s8 for int16. Sums are requantized as in kernels/common/wide.h. Taps outside
// of the input are 0.
PL_MUST_USE pl_status pl_transpose_conv2d_s16(const pl_context *ctx,
                                              const pl_transpose_conv2d_s16_params *params,
                                              const pl_transpose_conv2d_s16_dims *dims,
                                              const pl_transpose_conv2d_s16_data *data);

// The same where no sum leaves 32 bits, with shifts below -1; `bias` is the
// factors of all groups as kernels/common/dots_s16.h has them.
PL_MUST_USE pl_status pl_transpose_conv2d_blocks_s16(const pl_context *ctx,
                                                     const pl_transpose_conv2d_s16_params *params,
                                                     const pl_transpose_conv2d_s16_dims *dims,
                                                     const pl_transpose_conv2d_s16_data *data);

// Same with as many groups as input and output channels. `weight` is [kernel_h, kernel_w, output_c]
// for each phase, `shift` is -1 - shift.
PL_MUST_USE pl_status pl_transpose_conv2d_depthwise_s16(
    const pl_context *ctx, const pl_transpose_conv2d_s16_params *params,
    const pl_transpose_conv2d_s16_dims *dims, const pl_transpose_conv2d_s16_data *data);

#endif  // KERNELS_TRANSPOSE_CONV2D_TRANSPOSE_CONV2D_S16_H_
