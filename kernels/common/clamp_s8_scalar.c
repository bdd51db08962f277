// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s8.h"

void pl_clamp_s8(int8_t *y, int32_t count, int32_t minimum, int32_t maximum) {
  for (const int8_t *end = y + count; y != end; ++y) {
    const int32_t value = *y < minimum ? minimum : *y;
    *y = (int8_t)(value > maximum ? maximum : value);
  }
}
