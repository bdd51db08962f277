// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LINEAR_LINEAR_W4_H_
#define KERNELS_LINEAR_LINEAR_W4_H_

#include "kernels/linear/linear.h"

typedef pl_linear_params pl_linear_w4_params;

typedef struct {
  int32_t rows;
  int32_t input_channels;
  int32_t output_channels;
  int32_t group;  // input channels that share a group_scale: an even number, or all
} pl_linear_w4_dims;

typedef struct {
  const int8_t *input;        // [rows, input_channels]
  const int8_t *weight;       // [output_channels, ceil(input_channels / 2)]
  const int8_t *group_scale;  // [output_channels, ceil(input_channels / group)]
  const int32_t *bias;        // [output_channels], with the input's zero point folded in
  const int32_t *multiplier;  // [output_channels]
  const int32_t *shift;       // [output_channels]
  int8_t *output;             // [rows, output_channels]
} pl_linear_w4_data;

// As pl_linear_s8 with weights of four bits times the scale of their group; a byte holds that of an
// even input channel in its low half, the next one's in its high half.
PL_MUST_USE pl_status pl_linear_w4_s8(const pl_context *ctx, const pl_linear_w4_params *params,
                                      const pl_linear_w4_dims *dims, const pl_linear_w4_data *data);

// The same on cores with the DSP extension, where factors divide: groups of 8 to 504 channels, a
// multiple of 8, and constants packed by kernel.py. weight is words of eight, a row is whole ones;
// bias has bias, multiplier and right (kernels/common/requantize.h) of each channel. Scratch is for
// widened rows, four or one; with less it returns PL_ERROR_SCRATCH_SIZE.
PL_MUST_USE pl_status pl_linear_w4_pairs_s8(const pl_context *ctx,
                                            const pl_linear_w4_params *params,
                                            const pl_linear_w4_dims *dims,
                                            const pl_linear_w4_data *data);

// The same on cores with Helium, where factors divide: groups of a multiple of 32 channels, and
// what is left over behind whole groups is less than 32. kernel.py packs the constants: weight by
// 32, of the same size, group_scale and bias of four channels together: bias, multiplier and shift.
PL_MUST_USE pl_status pl_linear_w4_blocks_s8(const pl_context *ctx,
                                             const pl_linear_w4_params *params,
                                             const pl_linear_w4_dims *dims,
                                             const pl_linear_w4_data *data);

#endif  // KERNELS_LINEAR_LINEAR_W4_H_
