// SPDX-License-Identifier: Apache-2.0
// Common code of int8 matrix products on cores without Helium: the loops over blocks of columns,
// and the output stage.
#ifndef KERNELS_BMM_COLUMNS_S8_H_
#define KERNELS_BMM_COLUMNS_S8_H_

#include "kernels/bmm/bmm.h"
#include "kernels/common/clamp_s8.h"
#include "kernels/common/narrow_down.h"

typedef struct {
  int32_t c0, c1, c2, c3;
} pl_bmm_sums;

// Requantizes the first `count` of four sums and writes them, saturated to int8.
typedef void pl_bmm_store(const pl_bmm_params *params, pl_bmm_sums s, int32_t count,
                          int8_t *output);

// Called from a few places: not inlined.
static __attribute__((noinline)) void pl_bmm_store_any(const pl_bmm_params *params, pl_bmm_sums s,
                                                       int32_t count, int8_t *output) {
  const int32_t acc[PL_BMM_COLUMNS] = {s.c0, s.c1, s.c2, s.c3};
  for (int32_t n = 0; n < count; ++n) {
    output[n] = pl_narrow(pl_requantize(acc[n], params->multiplier, params->shift),
                          params->output_zero_point, INT8_MIN, INT8_MAX);
  }
}

// For pl_bmm_down_s8.
static inline void pl_bmm_store_down(const pl_bmm_params *params, pl_bmm_sums s, int32_t count,
                                     int8_t *output) {
  const int32_t multiplier = params->multiplier;
  const int32_t right = -params->shift - 1;
  const int32_t twice_zero_point_and_1 = 2 * params->output_zero_point + 1;
  output[0] = pl_narrow_down(s.c0, multiplier, right, twice_zero_point_and_1);
  if (count < 2) return;
  output[1] = pl_narrow_down(s.c1, multiplier, right, twice_zero_point_and_1);
  if (count < 3) return;
  output[2] = pl_narrow_down(s.c2, multiplier, right, twice_zero_point_and_1);
  if (count < 4) return;
  output[3] = pl_narrow_down(s.c3, multiplier, right, twice_zero_point_and_1);
}

// Packs `count` columns from b on, minus b's zero point; the last one repeats. Returns the
// contribution of a's zero point to the sums of every row.
typedef pl_bmm_sums pl_bmm_gather(const pl_bmm_params *params, const pl_bmm_dims *dims,
                                  const int8_t *b, int32_t count, int16_t *columns);

// Multiplies all rows with the columns.
typedef void pl_bmm_multiply(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *a,
                             const int16_t *columns, pl_bmm_sums start, int32_t count,
                             int8_t *output);

PL_INLINE pl_status pl_bmm_by_columns(const pl_context *ctx, const pl_bmm_params *params,
                                      const pl_bmm_dims *dims, const pl_bmm_data *data,
                                      pl_bmm_gather *gather, pl_bmm_multiply *multiply) {
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
      const pl_bmm_sums start = gather(params, dims, b, count, columns);
      multiply(params, dims, data->a + batch.a, columns, start, count, output + n);
    }
    output += dims->rows * dims->columns;
  } while (pl_broadcast_next(&dims->batch, &batch));
  const int32_t minimum = params->activation_min;
  const int32_t maximum = params->activation_max;
  if (maximum - minimum != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, (int32_t)(output - data->output), minimum, maximum);
  }
  return PL_OK;
}

// Contribution of a's zero point to the sums, from the totals of the columns.
static inline pl_bmm_sums pl_bmm_start(const pl_bmm_params *params, const int32_t total[]) {
  const int32_t zero_point = -params->a_zero_point;
  return (pl_bmm_sums){zero_point * total[0], zero_point * total[1], zero_point * total[2],
                       zero_point * total[3]};
}

#endif  // KERNELS_BMM_COLUMNS_S8_H_
