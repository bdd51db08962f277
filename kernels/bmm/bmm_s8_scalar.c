// SPDX-License-Identifier: Apache-2.0
#include "kernels/bmm/bmm.h"
#include "kernels/common/requantize.h"

typedef struct {
  int32_t c0, c1, c2, c3;
} sums;

static inline void step(sums *s, int32_t x, const int16_t *column) {
  s->c0 += x * column[0];
  s->c1 += x * column[1];
  s->c2 += x * column[2];
  s->c3 += x * column[3];
}

// Writes b less its zero point, [depth][PL_BMM_COLUMNS], of `count` columns from b on; the last one
// repeats. Returns what a's zero point takes from the sums of every row.
static sums gather(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *b,
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
  const int32_t zero_point = -params->a_zero_point;
  return (sums){zero_point * total[0], zero_point * total[1], zero_point * total[2],
                zero_point * total[3]};
}

static void store(const pl_bmm_params *params, sums s, int32_t count, int8_t *output) {
  const int32_t acc[PL_BMM_COLUMNS] = {s.c0, s.c1, s.c2, s.c3};
  for (int32_t n = 0; n < count; ++n) {
    output[n] =
        pl_narrow(pl_requantize(acc[n], params->multiplier, params->shift),
                  params->output_zero_point, params->activation_min, params->activation_max);
  }
}

// All rows times the columns, two rows at a time for fewer loads.
static void multiply(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *a,
                     const int16_t *columns, sums start, int32_t count, int8_t *output) {
  int32_t rows = dims->rows;
  for (; rows >= 2; rows -= 2) {
    sums s = start;
    sums t = start;
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
    sums s = start;
    for (const int8_t *end = a + dims->depth; a != end; columns += PL_BMM_COLUMNS) {
      step(&s, *a++, columns);
    }
    store(params, s, count, output);
  }
}

pl_status pl_bmm_s8(const pl_context *ctx, const pl_bmm_params *params, const pl_bmm_dims *dims,
                    const pl_bmm_data *data) {
  const uint32_t needed = (uint32_t)dims->depth * PL_BMM_COLUMNS * sizeof(int16_t);
  if (ctx->scratch_size < needed) return PL_ERROR_SCRATCH_SIZE;
  int16_t *columns = ctx->scratch;
  int8_t *output = data->output;
  pl_broadcast_row batch = {0};
  do {
    for (int32_t n = 0; n < dims->columns; n += PL_BMM_COLUMNS) {
      const int32_t left = dims->columns - n;
      const int32_t count = left < PL_BMM_COLUMNS ? left : PL_BMM_COLUMNS;
      const int8_t *b = data->b + batch.b + n * dims->b_column_stride;
      const sums start = gather(params, dims, b, count, columns);
      multiply(params, dims, data->a + batch.a, columns, start, count, output + n);
    }
    output += dims->rows * dims->columns;
  } while (pl_broadcast_next(&dims->batch, &batch));
  return PL_OK;
}
