// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/copy.h"

void pl_copy_bytes(int8_t *to, const int8_t *from, int32_t bytes) {
  while (bytes > 0) {
    const mve_pred16_t p = vctp8q((uint32_t)bytes);
    vstrbq_p_s8(to, vldrbq_z_s8(from, p), p);
    to += 16;
    from += 16;
    bytes -= 16;
  }
}

void pl_fill_bytes(int8_t *to, int8_t value, int32_t bytes) {
  const int8x16_t values = vdupq_n_s8(value);
  while (bytes > 0) {
    vstrbq_p_s8(to, values, vctp8q((uint32_t)bytes));
    to += 16;
    bytes -= 16;
  }
}
