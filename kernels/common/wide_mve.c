// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/wide.h"

#define LANES 8

// Weights are widened as they are loaded; VMLALDAVA adds eight products to 64 bits.
int64_t pl_wide_dot(int64_t sum, const int16_t *x, const int8_t *weight, int32_t count) {
  for (int32_t left = count / LANES; left > 0; --left) {
    sum = vmlaldavaq_s16(sum, vldrhq_s16(x), vldrbq_s16(weight));
    x += LANES;
    weight += LANES;
  }
  if (count % LANES == 0) return sum;
  const mve_pred16_t lanes = vctp16q((uint32_t)(count % LANES));
  return vmlaldavaq_s16(sum, vldrhq_z_s16(x, lanes), vldrbq_z_s16(weight, lanes));
}
