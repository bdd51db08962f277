// SPDX-License-Identifier: Apache-2.0
// Blocks of float32 sums of products, kept in registers. Each sum runs over its products in order.
// Products and sums are rounded one by one, but on Helium (products_f32_mve.h). So blocks of any
// size give the same bits.
#ifndef KERNELS_COMMON_PRODUCTS_F32_H_
#define KERNELS_COMMON_PRODUCTS_F32_H_

#include "kernels/common/types.h"

#define PL_LOOPS_F32 4
#define PL_BLOCK_F32 4  // rows and columns of a block

// Nested loops over products: elements from one product to the next in each loop, outermost first.
typedef struct {
  int32_t count[PL_LOOPS_F32];
  int32_t a[PL_LOOPS_F32];
  int32_t b[PL_LOOPS_F32];
} pl_loops_f32;

// Computes rows * columns sums from their first values, a bias of a row or 0 for null, and stores
// them. Element (r, c) adds a[r * a_row] times b[c * b_column] in each step of the loops. `rows`
// and `columns` are constants, 1 or PL_BLOCK_F32.
typedef void pl_block_f32(const pl_loops_f32 *loops, const float *a, int32_t a_row, const float *b,
                          int32_t b_column, const float *bias, int32_t rows, int32_t columns,
                          float *output, int32_t output_row);

PL_INLINE void pl_add_products_f32(const pl_loops_f32 *loops, const float *a, int32_t a_row,
                                   const float *b, int32_t b_column, int32_t rows, int32_t columns,
                                   float sums[PL_BLOCK_F32][PL_BLOCK_F32]) {
  for (int32_t i = 0; i < loops->count[0]; ++i, a += loops->a[0], b += loops->b[0]) {
    const float *a1 = a;
    const float *b1 = b;
    for (int32_t j = 0; j < loops->count[1]; ++j, a1 += loops->a[1], b1 += loops->b[1]) {
      const float *a2 = a1;
      const float *b2 = b1;
      for (int32_t k = 0; k < loops->count[2]; ++k, a2 += loops->a[2], b2 += loops->b[2]) {
        const float *a3 = a2;
        const float *b3 = b2;
        for (int32_t n = loops->count[3]; n > 0; --n, a3 += loops->a[3], b3 += loops->b[3]) {
#pragma GCC unroll 4
          for (int32_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
            for (int32_t c = 0; c < columns; ++c) {
              sums[r][c] += a3[r * a_row] * b3[c * b_column];
            }
          }
        }
      }
    }
  }
}

PL_INLINE void pl_block_f32_scalar(const pl_loops_f32 *loops, const float *a, int32_t a_row,
                                   const float *b, int32_t b_column, const float *bias,
                                   int32_t rows, int32_t columns, float *output,
                                   int32_t output_row) {
  float sums[PL_BLOCK_F32][PL_BLOCK_F32];
#pragma GCC unroll 4
  for (int32_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int32_t c = 0; c < columns; ++c) sums[r][c] = bias == NULL ? 0.0f : bias[r];
  }
  pl_add_products_f32(loops, a, a_row, b, b_column, rows, columns, sums);
#pragma GCC unroll 4
  for (int32_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int32_t c = 0; c < columns; ++c) output[r * output_row + c] = sums[r][c];
  }
}

#endif  // KERNELS_COMMON_PRODUCTS_F32_H_
