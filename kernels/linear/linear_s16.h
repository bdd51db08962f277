// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LINEAR_LINEAR_S16_H_
#define KERNELS_LINEAR_LINEAR_S16_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t activation_min;
  int32_t activation_max;
} pl_linear_s16_params;

typedef struct {
  int32_t rows;
  int32_t input_channels;
  int32_t output_channels;
} pl_linear_s16_dims;

typedef struct {
  const int16_t *input;       // [rows, input_channels]
  const int8_t *weight;       // [output_channels, input_channels]
  const int32_t *bias;        // [output_channels]; factors for pl_linear_blocks_s16
  const int32_t *multiplier;  // [output_channels]
  const int32_t *shift;       // [output_channels]
  int16_t *output;            // [rows, output_channels]
} pl_linear_s16_data;

// output[r][o] = clamp(bias[o] + sum_c input[r][c] * weight[o][c]), requantized as in
// kernels/common/wide.h. Also a 1x1 convolution.
PL_MUST_USE pl_status pl_linear_s16(const pl_context *ctx, const pl_linear_s16_params *params,
                                    const pl_linear_s16_dims *dims, const pl_linear_s16_data *data);

// The same where no sum leaves 32 bits, with shifts below -1; `bias` is the
// factors as kernels/common/dots_s16.h has them.
PL_MUST_USE pl_status pl_linear_blocks_s16(const pl_context *ctx,
                                           const pl_linear_s16_params *params,
                                           const pl_linear_s16_dims *dims,
                                           const pl_linear_s16_data *data);

#endif  // KERNELS_LINEAR_LINEAR_S16_H_
