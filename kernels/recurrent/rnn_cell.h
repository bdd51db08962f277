// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_RNN_CELL_H_
#define KERNELS_RECURRENT_RNN_CELL_H_

#include "kernels/recurrent/recurrent_step.h"

static inline int16_t pl_rnn_cell(const pl_recurrent_params *params, const pl_recurrent_data *data,
                                  const pl_recurrent_at *at, const pl_recurrent_unit *unit) {
  (void)at;
  const int32_t sum = unit->a[0] + unit->b[0];
  const int32_t positive = sum > 0 ? sum : 0;
  return pl_to_hidden(params, params->relu ? 2 * positive : pl_tanh(data->table, sum));
}

#endif  // KERNELS_RECURRENT_RNN_CELL_H_
