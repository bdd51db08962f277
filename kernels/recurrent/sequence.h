// SPDX-License-Identifier: Apache-2.0
// The loop over a sequence. The steps are those of recurrent_step.h or recurrent_step_mve.h. A
// source includes that header first.
#ifndef KERNELS_RECURRENT_SEQUENCE_H_
#define KERNELS_RECURRENT_SEQUENCE_H_

#include <stddef.h>

#include "kernels/recurrent/arithmetic.h"

// All steps of all batches. The new states alternate between scratch and the last state, so that
// the last step writes the last state.
PL_INLINE pl_status pl_recurrent_run(const pl_context *ctx, const pl_recurrent_params *params,
                                     const pl_recurrent_dims *dims, const pl_recurrent_data *data,
                                     int32_t gates, pl_recurrent_cell cell, bool wide) {
  const int32_t size = dims->hidden_size;
  if (dims->steps > 1 && ctx->scratch_size < (uint32_t)size * sizeof(int16_t)) {
    return PL_ERROR_SCRATCH_SIZE;
  }
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    pl_recurrent_at at = {.hidden = data->hidden + batch * size};
    if (data->cell != NULL) {
      at.cell = data->cell + batch * size;
      at.new_cell = data->last_cell + batch * size;
    }
    at.row = dims->first_row + batch * dims->batch_step;
    for (int32_t left = dims->steps; left > 0; --left, at.row += dims->row_step) {
      at.new_hidden = left % 2 == 0 ? (int16_t *)ctx->scratch : data->last_hidden + batch * size;
      pl_recurrent_step(params, dims, data, gates, cell, wide, &at);
      at.hidden = at.new_hidden;
      at.cell = at.new_cell;
    }
  }
  return PL_OK;
}

#endif  // KERNELS_RECURRENT_SEQUENCE_H_
