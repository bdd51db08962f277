// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LINEAR_LINEAR_TAPS_H_
#define KERNELS_LINEAR_LINEAR_TAPS_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t activation_min;
  int32_t activation_max;
} pl_linear_taps_params;

typedef struct {
  int32_t rows;
  int32_t input_channels;
  int32_t output_channels;
  int32_t expanded;  // output channels of a block, see kernels/common/gemm_taps_s8.h
  int32_t band;      // rows computed for all output channels before the next ones, even
} pl_linear_taps_dims;

typedef struct {
  const int8_t *input;   // [rows, input_channels]
  const int8_t *weight;  // packed, see kernels/common/gemm_taps_s8.h
  const int32_t *stage;  // [output_channels][PL_TAPS_STAGE]
  int8_t *output;        // [rows, output_channels]
} pl_linear_taps_data;

// pl_linear_s8 on cores with 16-bit Thumb instructions, for weights and factors that
// kernels/common/gemm_taps.py finds exact. Scratch holds two rows and the weights of a block, with
// input_channels rounded up to a multiple of 4.
PL_MUST_USE pl_status pl_linear_taps_s8(const pl_context *ctx, const pl_linear_taps_params *params,
                                        const pl_linear_taps_dims *dims,
                                        const pl_linear_taps_data *data);

// The same for results below the output's zero point; stage is [output_channels]
// [PL_TAPS_SIGNED_STAGE].
PL_MUST_USE pl_status pl_linear_signed_taps_s8(const pl_context *ctx,
                                               const pl_linear_taps_params *params,
                                               const pl_linear_taps_dims *dims,
                                               const pl_linear_taps_data *data);

#endif  // KERNELS_LINEAR_LINEAR_TAPS_H_
