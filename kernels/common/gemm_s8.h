// SPDX-License-Identifier: Apache-2.0
// The inner part of linear and conv2d: int8 rows times an int8 weight matrix, requantized.
#ifndef KERNELS_COMMON_GEMM_S8_H_
#define KERNELS_COMMON_GEMM_S8_H_

#include <stdint.h>

#include "kernels/common/requantize.h"

// The input's zero point is folded into the bias: bias[o] - input_zero_point * sum_k weight[o][k].
// kernels/common/gemm.py packs the arrays for the ISA.
typedef struct {
  const int8_t *weight;  // scalar: [ceil(channels / 4)][depth][4]; mve: [channels][depth]
  const int32_t *bias;   // [channels], in scalar packing padded to a multiple of 4, as in output
  pl_output_stage output;
  int32_t depth;
  int32_t channels;
} pl_gemm_s8_layer;

// y[r * y_stride + o] = clamp(requantize(bias[o] + sum_k x[r * x_stride + k] * weight[o][k],
//                                        multiplier[o], shift[o]) + zero_point)
// for r in [0, rows), o in [0, channels), k in [0, depth). More than one row at a time saves loads.
void pl_gemm_s8(const pl_gemm_s8_layer *layer, int32_t rows, const int8_t *x, int32_t x_stride,
                int8_t *y, int32_t y_stride);

#endif  // KERNELS_COMMON_GEMM_S8_H_
