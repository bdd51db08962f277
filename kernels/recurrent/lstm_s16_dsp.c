// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent/gates_dsp.h"
#include "kernels/recurrent/lstm_cell.h"
#include "kernels/recurrent/sequence.h"

pl_status pl_lstm_s16(const pl_context *ctx, const pl_recurrent_params *params,
                      const pl_recurrent_dims *dims, const pl_recurrent_data *data) {
  return pl_recurrent_run(ctx, params, dims, data, 4, pl_lstm_cell, true);
}
