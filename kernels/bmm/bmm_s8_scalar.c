// SPDX-License-Identifier: Apache-2.0
#include "kernels/bmm/columns_s8.h"

static inline void step(pl_bmm_sums *s, int32_t x, const int16_t *column) {
  s->c0 += x * column[0];
  s->c1 += x * column[1];
  s->c2 += x * column[2];
  s->c3 += x * column[3];
}

// [depth][PL_BMM_COLUMNS].
static pl_bmm_sums gather(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *b,
                          int32_t count, int16_t *columns) {
  int32_t total[PL_BMM_COLUMNS] = {0};
  for (int32_t n = 0; n < PL_BMM_COLUMNS; ++n) {
    const int8_t *column = b + (n < count ? n : count - 1) * dims->b_column_stride;
    for (int32_t k = 0; k < dims->depth; ++k) {
      const int32_t value = column[k * dims->b_depth_stride] - params->b_zero_point;
      columns[k * PL_BMM_COLUMNS + n] = (int16_t)value;
      total[n] += value;
    }
  }
  return pl_bmm_start(params, total);
}

// Two rows at a time for fewer loads.
PL_INLINE void multiply(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *a,
                        const int16_t *columns, pl_bmm_sums start, int32_t count, int8_t *output,
                        pl_bmm_store *store) {
  int32_t rows = dims->rows;
  for (; rows >= 2; rows -= 2) {
    pl_bmm_sums s = start;
    pl_bmm_sums t = start;
    const int16_t *column = columns;
    const int8_t *x = a;
    const int8_t *below = a + dims->a_row_stride;
    for (const int8_t *end = a + dims->depth; x != end; column += PL_BMM_COLUMNS) {
      step(&s, *x++, column);
      step(&t, *below++, column);
    }
    a += 2 * dims->a_row_stride;
    store(params, s, count, output);
    store(params, t, count, output + dims->columns);
    output += 2 * dims->columns;
  }
  if (rows > 0) {
    pl_bmm_sums s = start;
    for (const int8_t *end = a + dims->depth; a != end; columns += PL_BMM_COLUMNS) {
      step(&s, *a++, columns);
    }
    store(params, s, count, output);
  }
}

static void multiply_any(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *a,
                         const int16_t *columns, pl_bmm_sums start, int32_t count, int8_t *output) {
  multiply(params, dims, a, columns, start, count, output, pl_bmm_store_any);
}

static void multiply_down(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *a,
                          const int16_t *columns, pl_bmm_sums start, int32_t count,
                          int8_t *output) {
  multiply(params, dims, a, columns, start, count, output, pl_bmm_store_down);
}

pl_status pl_bmm_s8(const pl_context *ctx, const pl_bmm_params *params, const pl_bmm_dims *dims,
                    const pl_bmm_data *data) {
  return pl_bmm_by_columns(ctx, params, dims, data, gather, multiply_any);
}

pl_status pl_bmm_down_s8(const pl_context *ctx, const pl_bmm_params *params,
                         const pl_bmm_dims *dims, const pl_bmm_data *data) {
  return pl_bmm_by_columns(ctx, params, dims, data, gather, multiply_down);
}
