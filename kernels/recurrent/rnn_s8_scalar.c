// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent/recurrent_step.h"

static inline int16_t rnn_cell(const pl_recurrent_params *params, const pl_recurrent_data *data,
                               const pl_recurrent_unit *unit) {
  const int32_t sum = unit->a[0] + unit->b[0];
  const int32_t positive = sum > 0 ? sum : 0;
  return pl_to_hidden(params, params->relu ? 2 * positive : pl_tanh(data->table, sum));
}

pl_status pl_rnn_s8(const pl_context *ctx, const pl_recurrent_params *params,
                    const pl_recurrent_dims *dims, const pl_recurrent_data *data) {
  return pl_recurrent_run(ctx, params, dims, data, 1, rnn_cell);
}
