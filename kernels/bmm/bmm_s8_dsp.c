// SPDX-License-Identifier: Apache-2.0
#include "kernels/bmm/columns_s8.h"
#include "kernels/common/dsp.h"

#define FOUR 4  // steps

// Two steps of a column, written as int16.
typedef int16x2_t __attribute__((may_alias)) pair;

// Packs columns of b. Four values of a column are in SXTB16's order for a row: first and third,
// second and fourth. The last up to three values are [depth][PL_BMM_COLUMNS].
static pl_bmm_sums gather(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *b,
                          int32_t count, int16_t *columns) {
  const int32_t step = dims->b_depth_stride;
  const int32_t zero_point = params->b_zero_point;
  int32_t totals[PL_BMM_COLUMNS];
  for (int32_t n = 0; n < PL_BMM_COLUMNS; ++n) {
    const int8_t *x = b + (n < count ? n : count - 1) * dims->b_column_stride;
    int16_t *to = columns + FOUR * n;
    int32_t total = 0;
    for (int32_t left = dims->depth / FOUR; left > 0; --left, x += FOUR * step) {
      const int32_t first = x[0] - zero_point;
      const int32_t second = x[step] - zero_point;
      const int32_t third = x[2 * step] - zero_point;
      const int32_t fourth = x[3 * step] - zero_point;
      to[0] = (int16_t)first;
      to[1] = (int16_t)third;
      to[2] = (int16_t)second;
      to[3] = (int16_t)fourth;
      total += first + second + third + fourth;
      to += FOUR * PL_BMM_COLUMNS;
    }
    to -= (FOUR - 1) * n;
    for (int32_t left = dims->depth % FOUR; left > 0; --left, x += step) {
      const int32_t value = *x - zero_point;
      *to = (int16_t)value;
      total += value;
      to += PL_BMM_COLUMNS;
    }
    totals[n] = total;
  }
  return pl_bmm_start(params, totals);
}

// Four steps take a load of the row and one of each column, two SXTB16 and eight SMLAD.
PL_INLINE void multiply(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *a,
                        const int16_t *columns, pl_bmm_sums start, int32_t count, int8_t *output,
                        pl_bmm_store *store) {
  for (int32_t rows = dims->rows; rows > 0; --rows) {
    pl_bmm_sums s = start;
    const pair *pairs = (const pair *)columns;
    const int8_t *const row_end = a + dims->depth;
    for (const int8_t *end = a + (dims->depth & ~(FOUR - 1)); a != end; a += FOUR) {
      const int8x4_t four = pl_load_4(a);
      const int16x2_t even = pl_even_s16(four);
      const int16x2_t odd = pl_odd_s16(four);
      s.c0 = __smlad(odd, pairs[1], __smlad(even, pairs[0], s.c0));
      s.c1 = __smlad(odd, pairs[3], __smlad(even, pairs[2], s.c1));
      s.c2 = __smlad(odd, pairs[5], __smlad(even, pairs[4], s.c2));
      s.c3 = __smlad(odd, pairs[7], __smlad(even, pairs[6], s.c3));
      pairs += 2 * PL_BMM_COLUMNS;
    }
    const int16_t *rest = (const int16_t *)pairs;
    for (; a != row_end; rest += PL_BMM_COLUMNS) {
      const int32_t x = *a++;
      s.c0 += x * rest[0];
      s.c1 += x * rest[1];
      s.c2 += x * rest[2];
      s.c3 += x * rest[3];
    }
    store(params, s, count, output);
    a += dims->a_row_stride - dims->depth;
    output += dims->columns;
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
