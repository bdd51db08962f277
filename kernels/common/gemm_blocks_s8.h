// SPDX-License-Identifier: Apache-2.0
// Matrix products for cores with Helium, in place of gemm_s8.h if all factors divide. Blocks have
// two rows and four channels. VMLADAVA cannot accumulate more than these eight sums in registers.
#ifndef KERNELS_COMMON_GEMM_BLOCKS_S8_H_
#define KERNELS_COMMON_GEMM_BLOCKS_S8_H_

#include <stdint.h>

// kernels/common/gemm_blocks.py packs the arrays.
typedef struct {
  const int8_t *weight;      // [ceil(channels / 4)][ceil(depth / 16)][4][16], filled with zeros
  const int32_t *constants;  // [ceil(channels / 4)][bias, multiplier, shift][4], shift below 0
  int32_t depth;
  int32_t channels;
  int32_t zero_point;
  int32_t activation_min;
  int32_t activation_max;
} pl_gemm_blocks_s8;

// y[r * y_stride + o] = clamp(requantize(bias[o] + sum_k x[r * x_stride + k] * weight[o][k]) +
// zero_point) for r in [0, rows), o in [0, channels), k in [0, depth).
void pl_multiply_blocks_s8(const pl_gemm_blocks_s8 *layer, int32_t rows, const int8_t *x,
                           int32_t x_stride, int8_t *y, int32_t y_stride);

// The same, by itself where the last block has one or two channels: of several rows it takes less.
void pl_multiply_last_blocks_s8(const pl_gemm_blocks_s8 *layer, int32_t rows, const int8_t *x,
                                int32_t x_stride, int8_t *y, int32_t y_stride);

typedef void (*pl_multiply_of_blocks)(const pl_gemm_blocks_s8 *layer, int32_t rows, const int8_t *x,
                                      int32_t x_stride, int8_t *y, int32_t y_stride);

#endif  // KERNELS_COMMON_GEMM_BLOCKS_S8_H_
