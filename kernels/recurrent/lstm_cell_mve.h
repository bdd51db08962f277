// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_LSTM_CELL_MVE_H_
#define KERNELS_RECURRENT_LSTM_CELL_MVE_H_

#include "kernels/recurrent/recurrent_step_mve.h"

static inline int32x4_t pl_lstm_cell(const pl_recurrent_params *params,
                                     const pl_recurrent_data *data, const pl_recurrent_at *at,
                                     const pl_recurrent_units *units) {
  const int32x4_t i = pl_sigmoid(units->gate[0]);
  const int32x4_t f = pl_sigmoid(units->gate[1]);
  const int32x4_t o = pl_sigmoid(units->gate[3]);
  // Both with 15 bits more than the cell's state.
  const int32x4_t cell = vldrhq_z_s32(at->cell + units->index, units->lanes);
  const int32x4_t kept = vshrq_n_s32(vmulq_s32(f, cell), 1);
  const int32x4_t added = vshlq_r_s32(vmulq_s32(i, units->gate[2]), params->cell_bits - 16);
  const int32x4_t limit = vdupq_n_s32(params->cell_limit);
  const int32x4_t sum = pl_to_state(vaddq_s32(kept, added), 15);
  const int32x4_t c = vmaxq_s32(vminq_s32(sum, limit), vnegq_s32(limit));
  vstrhq_p_s32(at->new_cell + units->index, c, units->lanes);
  const int32x4_t reach = pl_centred_sigmoid(data->table, vshlq_r_s32(c, 15 - params->cell_bits));
  return pl_to_state(vmulq_s32(o, reach), 31 - params->hidden_bits);
}

#endif  // KERNELS_RECURRENT_LSTM_CELL_MVE_H_
