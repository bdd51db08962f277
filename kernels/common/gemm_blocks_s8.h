// SPDX-License-Identifier: Apache-2.0
// Matrix products for cores with Helium, in place of gemm_s8.h where all factors divide: blocks of
// two rows and four channels, whose eight sums are all that VMLADAVA can add to.
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

// The parts of pl_multiply_blocks_s8: blocks of all channels; those that a last block has one or
// two of by themselves.
void pl_multiply_whole_blocks_s8(const pl_gemm_blocks_s8 *layer, int32_t rows, const int8_t *x,
                                 int32_t x_stride, int8_t *y, int32_t y_stride);
void pl_multiply_last_channels_s8(const pl_gemm_blocks_s8 *layer, int32_t rows, const int8_t *x,
                                  int32_t x_stride, int8_t *y, int32_t y_stride);

// y[r * y_stride + o] = clamp(requantize(bias[o] + sum_k x[r * x_stride + k] * weight[o][k]) +
// zero_point) for r in [0, rows), o in [0, channels), k in [0, depth).
static inline void pl_multiply_blocks_s8(const pl_gemm_blocks_s8 *layer, int32_t rows,
                                         const int8_t *x, int32_t x_stride, int8_t *y,
                                         int32_t y_stride) {
  const int32_t left = layer->channels & 3;
  const int is_few = left == 1 || left == 2;
  if (is_few && rows > 1 && (left == 1 || rows % 4 == 0 || rows > 12)) {
    pl_multiply_last_channels_s8(layer, rows, x, x_stride, y, y_stride);
  } else {
    pl_multiply_whole_blocks_s8(layer, rows, x, x_stride, y, y_stride);
  }
}

#endif  // KERNELS_COMMON_GEMM_BLOCKS_S8_H_
