// SPDX-License-Identifier: Apache-2.0
// Float32 matrix products by blocks.
#ifndef KERNELS_BMM_F32_MULTIPLY_H_
#define KERNELS_BMM_F32_MULTIPLY_H_

#include "kernels/bmm_f32/bmm_f32.h"
#include "kernels/common/products_f32.h"

// All columns of `rows` rows, a constant.
PL_INLINE void pl_multiply_rows_f32(pl_block_f32 *block, const pl_bmm_f32_dims *dims,
                                    const pl_loops_f32 *loops, const float *a, const float *b,
                                    int32_t rows, float *output) {
  const int32_t columns = dims->columns;
  int32_t column = 0;
  for (; column + PL_BLOCK_F32 <= columns; column += PL_BLOCK_F32) {
    block(loops, a, dims->depth, b + column, 1, NULL, rows, PL_BLOCK_F32, output + column, columns);
  }
  for (; column < columns; ++column) {
    block(loops, a, dims->depth, b + column, 1, NULL, rows, 1, output + column, columns);
  }
}

PL_INLINE void pl_multiply_f32(pl_block_f32 *block, const pl_bmm_f32_dims *dims,
                               const pl_bmm_f32_data *data) {
  const pl_loops_f32 loops = {
      {1, 1, 1, dims->depth},
      {0, 0, 0, 1},
      {0, 0, 0, dims->columns},
  };
  const float *a = data->a;
  const float *b = data->b;
  float *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    int32_t row = 0;
    for (; row + PL_BLOCK_F32 <= dims->rows; row += PL_BLOCK_F32) {
      pl_multiply_rows_f32(block, dims, &loops, a, b, PL_BLOCK_F32, output);
      a += PL_BLOCK_F32 * dims->depth;
      output += PL_BLOCK_F32 * dims->columns;
    }
    for (; row < dims->rows; ++row) {
      pl_multiply_rows_f32(block, dims, &loops, a, b, 1, output);
      a += dims->depth;
      output += dims->columns;
    }
    b += dims->depth * dims->columns;
  }
}

#endif  // KERNELS_BMM_F32_MULTIPLY_H_
