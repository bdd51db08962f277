// SPDX-License-Identifier: Apache-2.0
#include "kernels/bmm/bmm.h"
#include "kernels/common/dsp.h"
#include "kernels/common/requantize.h"

typedef struct {
  int32_t c0, c1, c2, c3;
} sums;

// Where b[k][n] goes: four values of a column lie as SXTB16 makes those of a row, first and third,
// second and fourth; the last up to three are [depth][PL_BMM_COLUMNS].
static inline int32_t place(int32_t k, int32_t n, int32_t whole) {
  if (k >= whole) return k * PL_BMM_COLUMNS + n;
  return (k & ~3) * PL_BMM_COLUMNS + 4 * n + (k & 1) * 2 + ((k & 2) >> 1);
}

// Writes b less its zero point, of `count` columns from b on; the last one repeats. Returns what
// a's zero point takes from the sums of every row.
static sums gather(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *b,
                   int32_t count, int16_t *columns) {
  int32_t total[PL_BMM_COLUMNS] = {0};
  for (int32_t n = 0; n < PL_BMM_COLUMNS; ++n) {
    const int8_t *column = b + (n < count ? n : count - 1) * dims->b_column_stride;
    for (int32_t k = 0; k < dims->depth; ++k) {
      const int32_t value = column[k * dims->b_depth_stride] - params->b_zero_point;
      columns[place(k, n, dims->depth & ~3)] = (int16_t)value;
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

// All rows times the columns. Four steps take a load of the row and one of each column, two SXTB16
// and eight SMLAD.
static void multiply(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *a,
                     const int16_t *columns, sums start, int32_t count, int8_t *output) {
  for (int32_t rows = dims->rows; rows > 0; --rows) {
    sums s = start;
    const int16x2_t *pairs = (const int16x2_t *)columns;
    const int8_t *const row_end = a + dims->depth;
    for (const int8_t *end = a + (dims->depth & ~3); a != end; a += 4) {
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
