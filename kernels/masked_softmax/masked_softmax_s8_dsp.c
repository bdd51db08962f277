// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials_dsp.h"
#include "kernels/masked_softmax/masked_softmax.h"

static int32_t maximum_of(const int8_t *x, const uint8_t *mask, int32_t size) {
  const uint32_t least = 0x80808080U;
  int8x4_t most = (int8x4_t)least;
  for (const int8_t *end = x + (size & ~3); x != end; x += 4, mask += 4) {
    const uint32_t kept = (uint32_t)pl_load_4((const int8_t *)mask);
    most = pl_larger_4_s8(most, (int8x4_t)pl_choose_4(kept, (uint32_t)pl_load_4(x), least));
  }
  int8_t lanes[4];
  __builtin_memcpy(lanes, &most, 4);
  int32_t maximum = pl_row_maximum(lanes, 4, 1);
  for (int32_t i = 0; i < (size & 3); ++i) maximum = mask[i] && x[i] > maximum ? x[i] : maximum;
  return maximum;
}

static void softmax_row(const int8_t *x, const uint8_t *mask, int32_t size,
                        const int32_t *exp_table, uint32_t steps, int8_t *output) {
  const int32_t *at_zero = exp_table + maximum_of(x, mask, size);
  uint32_t sum = 0;
  for (int32_t i = 0; i < size; ++i) {
    if (mask[i]) sum += (uint32_t)at_zero[-x[i]];
  }
  const uint32_t half = sum / 2;
  if (sum == 0) sum = 1;  // all are masked
  for (const int8_t *end = x + size; x != end; ++x) {
    *output++ = *mask++ ? pl_share_dsp((uint32_t)at_zero[-*x], steps, half, sum) : INT8_MIN;
  }
}

pl_status pl_masked_softmax_s8(const pl_context *ctx, const pl_masked_softmax_params *params,
                               const pl_masked_softmax_dims *dims,
                               const pl_masked_softmax_data *data) {
  (void)ctx;
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    softmax_row(data->input + row.a, data->mask + row.b, dims->size, data->exp_table, params->steps,
                output);
    output += dims->size;
  } while (pl_broadcast_next(&dims->rows, &row));
  return PL_OK;
}
