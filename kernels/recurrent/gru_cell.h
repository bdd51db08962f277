// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_GRU_CELL_H_
#define KERNELS_RECURRENT_GRU_CELL_H_

#include "kernels/common/product_high.h"
#include "kernels/recurrent/recurrent_step.h"

// (x * q16) / 2^16, rounded to nearest, ties upwards.
static inline int32_t pl_scale_q16(int32_t x, int32_t q16) {
  return (int32_t)((pl_product_64(x, q16) + (1 << 15)) >> 16);
}

static inline int16_t pl_gru_cell(const pl_recurrent_params *params, const pl_recurrent_data *data,
                                  const pl_recurrent_at *at, const pl_recurrent_unit *unit) {
  const int16_t *table = data->table;
  const int32_t r = pl_sigmoid(table, unit->a[0] + unit->b[0]);
  const int32_t z = pl_sigmoid(table, unit->a[1] + unit->b[1]);
  const int32_t n = pl_tanh(table, unit->a[2] + pl_scale_q16(unit->b[2], r));
  const int32_t h = at->hidden[unit->index] * (1 << (15 - params->hidden_bits));
  return pl_to_hidden(params, n + pl_scale_q16(h - n, z));
}

#endif  // KERNELS_RECURRENT_GRU_CELL_H_
