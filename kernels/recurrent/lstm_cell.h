// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_LSTM_CELL_H_
#define KERNELS_RECURRENT_LSTM_CELL_H_

#include "kernels/recurrent/recurrent_step.h"

static inline int16_t pl_lstm_cell(const pl_recurrent_params *params, const pl_recurrent_data *data,
                                   const pl_recurrent_at *at, const pl_recurrent_unit *unit) {
  const int16_t *table = data->table;
  const int32_t i = pl_sigmoid(table, unit->a[0] + unit->b[0]);
  const int32_t f = pl_sigmoid(table, unit->a[1] + unit->b[1]);
  const int32_t g = pl_tanh(table, unit->a[2] + unit->b[2]);
  const int32_t o = pl_sigmoid(table, unit->a[3] + unit->b[3]);
  // Both with 15 bits more than the cell's state.
  const int32_t kept = (f * at->cell[unit->index]) >> 1;
  const int32_t added = (i * g) >> (16 - params->cell_bits);
  const int32_t limit = params->cell_limit;
  const int32_t sum = pl_shift_right_rounding(kept + added, 15);
  const int16_t c = pl_saturate_s16(pl_clamp(sum, -limit, limit));
  at->new_cell[unit->index] = c;
  const int32_t h = o * pl_centred_sigmoid(table, c * (1 << (15 - params->cell_bits)));
  return pl_saturate_s16(pl_shift_right_rounding(h, 31 - params->hidden_bits));
}

#endif  // KERNELS_RECURRENT_LSTM_CELL_H_
