// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_RNN_CELL_MVE_H_
#define KERNELS_RECURRENT_RNN_CELL_MVE_H_

#include "kernels/recurrent/recurrent_step_mve.h"

static inline int32x4_t pl_rnn_cell(const pl_recurrent_params *params,
                                    const pl_recurrent_data *data, const pl_recurrent_at *at,
                                    const pl_recurrent_units *units) {
  (void)at;
  const int32x4_t twice = vshlq_n_s32(units->gate[0], 1);
  const int32x4_t q15 =
      params->relu ? vmaxq_s32(twice, vdupq_n_s32(0)) : pl_centred_sigmoid(data->table, twice);
  return pl_to_state(q15, 15 - params->hidden_bits);
}

#endif  // KERNELS_RECURRENT_RNN_CELL_MVE_H_
