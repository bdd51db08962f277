// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LINEAR_LINEAR_H_
#define KERNELS_LINEAR_LINEAR_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t output_zero_point;
  int32_t activation_min;
  int32_t activation_max;
} pl_linear_params;

typedef struct {
  int32_t rows;
  int32_t input_channels;
  int32_t output_channels;
} pl_linear_dims;

// The constants are packed for the ISA, see kernels/common/gemm_s8.h.
typedef struct {
  const int8_t *input;        // [rows, input_channels]
  const int8_t *weight;       // shape [output_channels, input_channels]
  const int32_t *bias;        // [output_channels], with the input's zero point folded in
  const int32_t *multiplier;  // [output_channels]
  const int32_t *shift;       // [output_channels]
  int8_t *output;             // [rows, output_channels]
} pl_linear_data;

// output[r][o] = clamp(requantize(bias[o] + sum_c input[r][c] * weight[o][c]) + zero point).
// TFLite int8 FULLY_CONNECTED with per-channel scales; also a 1x1 convolution.
PL_MUST_USE pl_status pl_linear_s8(const pl_context *ctx, const pl_linear_params *params,
                                   const pl_linear_dims *dims, const pl_linear_data *data);

// The same on cores with 16-bit Thumb instructions, for one row and factors that
// kernels/common/steps.py finds exact; the signed one has results below the output's zero point.
// weight: [ceil(output_channels / 4)][input_channels], words of four channels, the first three +
// 128. bias: [output_channels][PL_TAPS_STAGE] or [PL_TAPS_SIGNED_STAGE], see
// kernels/common/gemm_taps_s8.h.
PL_MUST_USE pl_status pl_linear_digits_s8(const pl_context *ctx, const pl_linear_params *params,
                                          const pl_linear_dims *dims, const pl_linear_data *data);
PL_MUST_USE pl_status pl_linear_signed_digits_s8(const pl_context *ctx,
                                                 const pl_linear_params *params,
                                                 const pl_linear_dims *dims,
                                                 const pl_linear_data *data);

// pl_linear_s8 on cores with the DSP extension, where two weights fit into 16 bits: constants are
// packed for kernels/common/gemm_pairs_s8.h. Scratch is for widened rows, four or one; with less it
// returns PL_ERROR_SCRATCH_SIZE.
PL_MUST_USE pl_status pl_linear_pairs_s8(const pl_context *ctx, const pl_linear_params *params,
                                         const pl_linear_dims *dims, const pl_linear_data *data);

// The same for all sums and weights, see pl_multiply_wide_pairs_s8.
PL_MUST_USE pl_status pl_linear_wide_pairs_s8(const pl_context *ctx, const pl_linear_params *params,
                                              const pl_linear_dims *dims,
                                              const pl_linear_data *data);

// Same without scratch, for few channels. Constants are packed in pairs. A last channel without a
// partner has its plain sum and plain int16 weights. depth is a multiple of 4; zero weights fill
// the last four.
PL_MUST_USE pl_status pl_linear_few_s8(const pl_context *ctx, const pl_linear_params *params,
                                       const pl_linear_dims *dims, const pl_linear_data *data);
PL_MUST_USE pl_status pl_linear_few_wide_s8(const pl_context *ctx, const pl_linear_params *params,
                                            const pl_linear_dims *dims, const pl_linear_data *data);

// pl_linear_pairs_s8 for up to three rows and an odd number of channels. The last channel has no
// partner. It has its plain sum and plain int16 weights. Scratch holds one row.
PL_MUST_USE pl_status pl_linear_odd_pairs_s8(const pl_context *ctx, const pl_linear_params *params,
                                             const pl_linear_dims *dims,
                                             const pl_linear_data *data);
PL_MUST_USE pl_status pl_linear_odd_wide_pairs_s8(const pl_context *ctx,
                                                  const pl_linear_params *params,
                                                  const pl_linear_dims *dims,
                                                  const pl_linear_data *data);

// pl_linear_pairs_s8 for two channels and four rows or more, without scratch. Sums are plain.
// Weights are int16, [ceil(depth / 4)][2][4], with fours as (w0, w2, w1, w3) and zeros at the end.
PL_MUST_USE pl_status pl_linear_two_s8(const pl_context *ctx, const pl_linear_params *params,
                                       const pl_linear_dims *dims, const pl_linear_data *data);

// The same on cores with Helium, where no factor multiplies: constants are packed for
// kernels/common/gemm_blocks_s8.h.
PL_MUST_USE pl_status pl_linear_blocks_s8(const pl_context *ctx, const pl_linear_params *params,
                                          const pl_linear_dims *dims, const pl_linear_data *data);

// The same for a last block of one or two channels.
PL_MUST_USE pl_status pl_linear_last_blocks_s8(const pl_context *ctx,
                                               const pl_linear_params *params,
                                               const pl_linear_dims *dims,
                                               const pl_linear_data *data);

#endif  // KERNELS_LINEAR_LINEAR_H_
