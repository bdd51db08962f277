// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_GRU_CELL_MVE_H_
#define KERNELS_RECURRENT_GRU_CELL_MVE_H_

#include "kernels/recurrent/recurrent_step_mve.h"

static inline int32x4_t pl_gru_cell(const pl_recurrent_params *params,
                                    const pl_recurrent_data *data, const pl_recurrent_at *at,
                                    const pl_recurrent_units *units) {
  (void)data;
  const int32_t bits_less = 15 - params->hidden_bits;
  const int32x4_t z = pl_sigmoid(units->gate[1]);
  const int32x4_t n = units->gate[2];
  const int32x4_t hidden = vldrhq_z_s32(at->hidden + units->index, units->lanes);
  const int32x4_t change = vsubq_s32(vshlq_r_s32(hidden, bits_less), n);
  return pl_to_state(vaddq_s32(n, pl_scale_q16(change, z)), bits_less);
}

#endif  // KERNELS_RECURRENT_GRU_CELL_MVE_H_
