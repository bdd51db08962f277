// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent/recurrent_step.h"

// (x * q16) / 2^16, rounded to nearest, ties upwards.
static inline int32_t scale(int32_t x, int32_t q16) {
  return (int32_t)(((int64_t)x * q16 + (1 << 15)) >> 16);
}

static inline int16_t gru_cell(const pl_recurrent_params *params, const pl_recurrent_data *data,
                               const pl_recurrent_unit *unit) {
  const int16_t *table = data->table;
  const int32_t r = pl_sigmoid(table, unit->a[0] + unit->b[0]);
  const int32_t z = pl_sigmoid(table, unit->a[1] + unit->b[1]);
  const int32_t n = pl_tanh(table, unit->a[2] + scale(unit->b[2], r));
  const int32_t h = unit->hidden * (1 << (15 - params->hidden_bits));
  return pl_to_hidden(params, n + scale(h - n, z));
}

pl_status pl_gru_s8(const pl_context *ctx, const pl_recurrent_params *params,
                    const pl_recurrent_dims *dims, const pl_recurrent_data *data) {
  return pl_recurrent_run(ctx, params, dims, data, 3, gru_cell);
}
