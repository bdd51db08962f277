// SPDX-License-Identifier: Apache-2.0
#include "kernels/bmm/bmm_taps.h"
#include "kernels/common/gemm_taps_s8.h"

// Words of a row summed at once: both halves stay within 16 bits.
#define SUMMED 128

// The upper value of a word is one larger: from -127 to 128. So the sum of two products is from
// -32640 to 32640, also with -128 by -128.
static inline uint32_t two(int32_t lower, int32_t upper) {
  return (uint32_t)lower + ((uint32_t)(upper + 1) << 16);
}

// Expands a column to words. Returns the sum of its values.
static int32_t expand_column(const int8_t *b, int32_t step, int32_t depth, uint32_t *to) {
  int32_t sum = 0;
  for (; depth >= 4; depth -= 4, to += 2) {
    const int32_t b0 = *b, b1 = b[step];
    b += 2 * step;
    const int32_t b2 = *b, b3 = b[step];
    b += 2 * step;
    sum += b0 + b1 + b2 + b3;
    to[0] = two(b2, b0);
    to[1] = two(b3, b1);
  }
  if (depth > 0) {  // the row's values after its end are 0
    const int32_t b0 = *b, b1 = depth > 1 ? b[step] : 0, b2 = depth > 2 ? b[2 * step] : 0;
    sum += b0 + b1 + b2;
    to[0] = two(b2, b0);
    to[1] = two(0, b1);
  }
  return sum;
}

static void expand_columns(const pl_bmm_taps_params *params, const pl_bmm_taps_dims *dims,
                           const int32_t *stage, const int8_t *b, int32_t count, uint32_t *to) {
  const int32_t words = ((dims->depth + 3) & ~3) / 2;
  const int32_t offset = dims->depth * params->b_zero_point;
  for (; count > 0; --count, b += dims->b_column_stride) {
    const int32_t sum = expand_column(b, dims->b_depth_stride, dims->depth, to + 1);
    *to = (uint32_t)(-params->a_zero_point * (sum - offset) - params->first);
    to += 1 + words;
    for (int32_t i = 0; i < PL_TAPS_SIGNED_STAGE - 1; ++i) *to++ = (uint32_t)stage[i];
  }
}

// Returns the term of one of two expanded rows in the sums of all columns: for the zero point of b,
// and for the values made one larger.
static int32_t term_of_row(const uint32_t *x, int32_t words, int32_t b_zero_point) {
  int32_t lower_sum = 0, upper_sum = 0;
  while (words > 0) {
    const int32_t count = words < SUMMED ? words : SUMMED;
    uint32_t total = 0;
    for (const uint32_t *end = x + 2 * count; x != end; x += 2) total += *x;
    const int32_t lower = (int16_t)total;
    lower_sum += lower;
    upper_sum += (int16_t)((total - (uint32_t)lower) >> 16);
    words -= count;
  }
  return -lower_sum - b_zero_point * (lower_sum + upper_sum);
}

// All rows times a block of columns.
static void multiply_rows(const pl_bmm_taps_params *params, const pl_bmm_taps_dims *dims,
                          pl_taps_call *call, const int8_t *a, int32_t count, int8_t *y,
                          uint32_t *x) {
  const int32_t words = ((dims->depth + 3) & ~3) / 2;
  for (int32_t left = dims->rows; left > 0; left -= 2) {
    const int32_t second = left > 1;
    pl_expand_rows_s8(a, a + second * dims->a_row_stride, dims->depth, x);
    call->terms[0] = term_of_row(x, words, params->b_zero_point);
    call->terms[1] = term_of_row(x + 1, words, params->b_zero_point);
    call->y = y;
    call->y_end = y + count;
    call->y_step = second * dims->columns;
    pl_multiply_taps_and_terms_s8(call);
    a += 2 * dims->a_row_stride;
    y += 2 * dims->columns;
  }
}

pl_status pl_bmm_taps_s8(const pl_context *ctx, const pl_bmm_taps_params *params,
                         const pl_bmm_taps_dims *dims, const pl_bmm_taps_data *data) {
  const pl_gemm_taps layer = {
      .depth = (dims->depth + 3) & ~3,
      .block = dims->expanded,
      .stage_words = PL_TAPS_SIGNED_STAGE,
  };
  const int32_t scratch = pl_taps_rows_bytes(layer.depth) + pl_taps_block_bytes(&layer);
  if (ctx->scratch_size < (uint32_t)scratch) return PL_ERROR_SCRATCH_SIZE;
  uint32_t *const x = ctx->scratch;
  uint32_t *const columns = x + layer.depth;
  pl_taps_call call = {
      .x = x,
      .x_end = columns,
      .weight = columns,
      .low_xor_top = params->activation_min ^ params->activation_max,
      .top = params->activation_max,
  };
  int8_t *output = data->output;
  pl_broadcast_row batch = {0};
  do {
    const int8_t *b = data->b + batch.b;
    for (int32_t left = dims->columns; left > 0;) {
      const int32_t count = left < layer.block ? left : layer.block;
      expand_columns(params, dims, data->stage, b, count, columns);
      multiply_rows(params, dims, &call, data->a + batch.a, count, output + (dims->columns - left),
                    x);
      b += count * dims->b_column_stride;
      left -= count;
    }
    output += dims->rows * dims->columns;
  } while (pl_broadcast_next(&dims->batch, &batch));
  return PL_OK;
}
