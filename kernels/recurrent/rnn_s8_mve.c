// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent/rnn_cell_mve.h"
#include "kernels/recurrent/sequence.h"

pl_status pl_rnn_s8(const pl_context *ctx, const pl_recurrent_params *params,
                    const pl_recurrent_dims *dims, const pl_recurrent_data *data) {
  return pl_recurrent_run(ctx, params, dims, data, 1, pl_rnn_cell, false);
}
