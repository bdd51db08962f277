// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/reduce/second_moment_s8.h"

// Columns summed together, each in a 32-bit lane.
#define COLUMNS 4

static inline void run(const int8_t *x, int32_t count, int32_t *sum, int32_t *squares) {
  int32_t total = *sum;
  int32_t of_squares = *squares;
  for (; count > 0; count -= 16) {
    const mve_pred16_t lanes = vctp8q((uint32_t)count);
    const int8x16_t values = vldrbq_z_s8(x, lanes);
    total = vaddvaq_p_s8(total, values, lanes);
    of_squares = vmladavaq_p_s8(of_squares, values, values, lanes);
    x += 16;
  }
  *sum = total;
  *squares = of_squares;
}

static void moments_of_columns(const pl_reduce_params *params, const pl_reduce_dims *dims,
                               const int8_t *x, int32_t columns, int8_t *output) {
  const mve_pred16_t lanes = vctp32q((uint32_t)columns);
  const int32_t step = dims->reduced_stride[2];
  int32x4_t sum = vdupq_n_s32(0);
  int32x4_t squares = vdupq_n_s32(0);
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; --left, at += step) {
        const int32x4_t values = vldrbq_z_s32(at, lanes);
        sum = vaddq_s32(sum, values);
        squares = vaddq_s32(squares, vmulq_s32(values, values));
      }
    }
  }
  int32_t sums[COLUMNS];
  int32_t of_squares[COLUMNS];
  vstrwq_s32(sums, sum);
  vstrwq_s32(of_squares, squares);
  for (int32_t i = 0; i < columns; ++i) {
    output[i] = pl_moment_of_sums(params, dims, sums[i], (uint32_t)of_squares[i]);
  }
}

static void row(const pl_reduce_params *params, const pl_reduce_dims *dims, const int8_t *x,
                int8_t *output) {
  const int32_t count = dims->reduced[0] * dims->reduced[1] * dims->reduced[2];
  if (dims->kept_stride[2] != 1 || dims->reduced_stride[2] == 1 || count > PL_MOMENT_RUN) {
    pl_moments_of_row(params, dims, x, output, run);
    return;
  }
  for (int32_t left = dims->kept[2]; left > 0; left -= COLUMNS) {
    moments_of_columns(params, dims, x, left < COLUMNS ? left : COLUMNS, output);
    x += COLUMNS;
    output += COLUMNS;
  }
}

pl_status pl_second_moment_s8(const pl_context *ctx, const pl_reduce_params *params,
                              const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_moments(params, dims, data, row);
}
