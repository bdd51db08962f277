// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/clamp_s8.h"

void pl_clamp_s8(int8_t *y, int32_t count, int32_t minimum, int32_t maximum) {
  for (; count > 0; count -= 16, y += 16) {
    const mve_pred16_t lanes = vctp8q((uint32_t)count);
    const int8x16_t least = vmaxq_s8(vldrbq_z_s8(y, lanes), vdupq_n_s8((int8_t)minimum));
    vstrbq_p_s8(y, vminq_s8(least, vdupq_n_s8((int8_t)maximum)), lanes);
  }
}
