// SPDX-License-Identifier: Apache-2.0
// Blocks of float32 sums of products in Helium's vectors: four columns are a vector. Products and
// sums are fused there, and denormals are 0.
#ifndef KERNELS_COMMON_PRODUCTS_F32_MVE_H_
#define KERNELS_COMMON_PRODUCTS_F32_MVE_H_

#include <arm_mve.h>

#include "kernels/common/products_f32.h"

// Four elements, `step` apart.
PL_INLINE float32x4_t pl_four_f32(const float *b, int32_t step, uint32x4_t places) {
  return step == 1 ? vld1q(b) : vldrwq_gather_shifted_offset(b, places);
}

PL_INLINE void pl_vectors_f32(const pl_loops_f32 *loops, const float *a, int32_t a_row,
                              const float *b, int32_t b_column, const float *bias, int32_t rows,
                              float *output, int32_t output_row) {
  const uint32x4_t places = vmulq(vidupq_n_u32(0, 1), (uint32_t)b_column);
  float32x4_t sums[PL_BLOCK_F32];
#pragma GCC unroll 4
  for (int32_t r = 0; r < rows; ++r) sums[r] = vdupq_n_f32(bias == NULL ? 0.0f : bias[r]);
  for (int32_t i = 0; i < loops->count[0]; ++i, a += loops->a[0], b += loops->b[0]) {
    const float *a1 = a;
    const float *b1 = b;
    for (int32_t j = 0; j < loops->count[1]; ++j, a1 += loops->a[1], b1 += loops->b[1]) {
      const float *a2 = a1;
      const float *b2 = b1;
      for (int32_t k = 0; k < loops->count[2]; ++k, a2 += loops->a[2], b2 += loops->b[2]) {
        const float *row[PL_BLOCK_F32];
        const float *b3 = b2;
#pragma GCC unroll 4
        for (int32_t r = 0; r < rows; ++r) row[r] = a2 + r * a_row;
        for (int32_t n = loops->count[3]; n > 0; --n, b3 += loops->b[3]) {
          const float32x4_t four = pl_four_f32(b3, b_column, places);
#pragma GCC unroll 4
          for (int32_t r = 0; r < rows; ++r) {
            sums[r] = vfmaq(sums[r], four, *row[r]);
            row[r] += loops->a[3];
          }
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int32_t r = 0; r < rows; ++r) vst1q(output + r * output_row, sums[r]);
}

PL_INLINE void pl_block_f32_mve(const pl_loops_f32 *loops, const float *a, int32_t a_row,
                                const float *b, int32_t b_column, const float *bias, int32_t rows,
                                int32_t columns, float *output, int32_t output_row) {
  if (columns == 1) {
    pl_block_f32_scalar(loops, a, a_row, b, b_column, bias, rows, 1, output, output_row);
  } else if (b_column == 1) {
    pl_vectors_f32(loops, a, a_row, b, 1, bias, rows, output, output_row);
  } else {
    pl_vectors_f32(loops, a, a_row, b, b_column, bias, rows, output, output_row);
  }
}

#endif  // KERNELS_COMMON_PRODUCTS_F32_MVE_H_
