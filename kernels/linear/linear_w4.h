// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LINEAR_LINEAR_W4_H_
#define KERNELS_LINEAR_LINEAR_W4_H_

#include "kernels/linear/linear.h"

typedef pl_linear_params pl_linear_w4_params;

typedef struct {
  int32_t rows;
  int32_t input_channels;
  int32_t output_channels;
  int32_t group;  // input channels per group_scale: an even number, or all
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

// pl_linear_s8 with four-bit weights times the scale of their group. The low half of a byte holds
// the weight of an even input channel, the high half that of the next channel.
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

// Same on cores with Helium, for dividing factors. Groups have a multiple of 32 channels, and the
// tail after full groups has fewer than 32. kernel.py packs the constants. weight is packed in 32s,
// with the same size. group_scale and bias hold four channels together: bias, multiplier and shift.
PL_MUST_USE pl_status pl_linear_w4_blocks_s8(const pl_context *ctx,
                                             const pl_linear_w4_params *params,
                                             const pl_linear_w4_dims *dims,
                                             const pl_linear_w4_data *data);

#endif  // KERNELS_LINEAR_LINEAR_W4_H_
