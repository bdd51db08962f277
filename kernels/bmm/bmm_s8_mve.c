// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/bmm/bmm.h"
#include "kernels/common/requantize_mve.h"

#define LANES 16

// Four contiguous columns of b.
typedef struct {
  const int8_t *at[PL_BMM_COLUMNS];
} columns;

// Contiguous columns stay in place. Others are copied to scratch, [PL_BMM_COLUMNS][depth]. The last
// one of `count` repeats.
static columns gather(const pl_bmm_dims *dims, const int8_t *b, int32_t count, int8_t *scratch) {
  columns c;
  for (int32_t n = 0; n < PL_BMM_COLUMNS; ++n) {
    const int8_t *from = b + (n < count ? n : count - 1) * dims->b_column_stride;
    c.at[n] = from;
    if (dims->b_depth_stride != 1) {
      c.at[n] = scratch;
      for (int32_t k = dims->depth; k > 0; --k) {
        *scratch++ = *from;
        from += dims->b_depth_stride;
      }
    }
  }
  return c;
}

static int32_t total(const int8_t *x, int32_t count) {
  int32_t sum = 0;
  for (; count > 0; count -= LANES) {
    sum = vaddvaq_s8(sum, vldrbq_z_s8(x, vctp8q((uint32_t)count)));
    x += LANES;
  }
  return sum;
}

// The sums of a * b and, in the same loop, the sum of a, times -b_zero_point.
static inline int32x4_t multiply_row(const int8_t *a, const columns *c, int32_t depth,
                                     int32_t b_zero_point) {
  const int8_t *b0 = c->at[0];
  const int8_t *b1 = c->at[1];
  const int8_t *b2 = c->at[2];
  const int8_t *b3 = c->at[3];
  int32_t sum0 = 0;
  int32_t sum1 = 0;
  int32_t sum2 = 0;
  int32_t sum3 = 0;
  int32_t sum_a = 0;
  for (int32_t left = depth / LANES; left > 0; --left) {
    const int8x16_t x = vldrbq_s8(a);
    sum0 = vmladavaq_s8(sum0, x, vldrbq_s8(b0));
    sum1 = vmladavaq_s8(sum1, x, vldrbq_s8(b1));
    sum2 = vmladavaq_s8(sum2, x, vldrbq_s8(b2));
    sum3 = vmladavaq_s8(sum3, x, vldrbq_s8(b3));
    sum_a = vaddvaq_s8(sum_a, x);
    a += LANES;
    b0 += LANES;
    b1 += LANES;
    b2 += LANES;
    b3 += LANES;
  }
  if (depth % LANES != 0) {
    const mve_pred16_t p = vctp8q((uint32_t)(depth % LANES));
    const int8x16_t x = vldrbq_z_s8(a, p);
    sum0 = vmladavaq_s8(sum0, x, vldrbq_z_s8(b0, p));
    sum1 = vmladavaq_s8(sum1, x, vldrbq_z_s8(b1, p));
    sum2 = vmladavaq_s8(sum2, x, vldrbq_z_s8(b2, p));
    sum3 = vmladavaq_s8(sum3, x, vldrbq_z_s8(b3, p));
    sum_a = vaddvaq_s8(sum_a, x);
  }
  const int32_t from_b = -b_zero_point * sum_a;
  const int32_t sums[] = {sum0 + from_b, sum1 + from_b, sum2 + from_b, sum3 + from_b};
  return vldrwq_s32(sums);
}

// All rows times the columns: (a - a_zero_point) * (b - b_zero_point), multiplied out.
static void multiply(const pl_bmm_params *params, const pl_bmm_dims *dims, const int8_t *a,
                     const columns *c, int32_t count, int8_t *output) {
  const int32x4_t zero = vdupq_n_s32(0);
  const int32x4_t shift = vdupq_n_s32(params->shift);
  const pl_factors_mve factors = {vdupq_n_s32(params->multiplier), vmaxq_s32(shift, zero),
                                  vminq_s32(shift, zero)};
  const pl_output_stage stage = {
      .zero_point = params->output_zero_point,
      .activation_min = params->activation_min,
      .activation_max = params->activation_max,
  };
  const mve_pred16_t lanes = vctp32q((uint32_t)count);
  int32_t start[PL_BMM_COLUMNS];
  for (int32_t n = 0; n < PL_BMM_COLUMNS; ++n) {
    start[n] =
        params->a_zero_point * (dims->depth * params->b_zero_point - total(c->at[n], dims->depth));
  }
  for (int32_t rows = dims->rows; rows > 0; --rows) {
    const int32x4_t sums = multiply_row(a, c, dims->depth, params->b_zero_point);
    const int32x4_t value = pl_requantize_mve(vaddq_s32(sums, vldrwq_s32(start)), factors);
    vstrbq_p_s32(output, pl_narrow_mve(value, &stage), lanes);
    a += dims->a_row_stride;
    output += dims->columns;
  }
}

pl_status pl_bmm_s8(const pl_context *ctx, const pl_bmm_params *params, const pl_bmm_dims *dims,
                    const pl_bmm_data *data) {
  const int32_t needed = dims->b_depth_stride == 1 ? 0 : dims->depth * PL_BMM_COLUMNS;
  if (ctx->scratch_size < (uint32_t)needed) return PL_ERROR_SCRATCH_SIZE;
  int8_t *output = data->output;
  pl_broadcast_row batch = {0};
  do {
    for (int32_t n = 0; n < dims->columns; n += PL_BMM_COLUMNS) {
      const int32_t left = dims->columns - n;
      const int32_t count = left < PL_BMM_COLUMNS ? left : PL_BMM_COLUMNS;
      const int8_t *b = data->b + batch.b + n * dims->b_column_stride;
      const columns c = gather(dims, b, count, ctx->scratch);
      multiply(params, dims, data->a + batch.a, &c, count, output + n);
    }
    output += dims->rows * dims->columns;
  } while (pl_broadcast_next(&dims->batch, &batch));
  return PL_OK;
}
