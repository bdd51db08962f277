// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide.h"

// Number of int16 x int8 products with a sum within 32 bits.
#define RUN 256

int64_t pl_wide_dot(int64_t sum, const int16_t *x, const int8_t *weight, int32_t count) {
  while (count > 0) {
    const int32_t run = count < RUN ? count : RUN;
    int32_t part = 0;
    for (const int16_t *end = x + (run & ~3); x != end; x += 4, weight += 4) {
      part += x[0] * weight[0];
      part += x[1] * weight[1];
      part += x[2] * weight[2];
      part += x[3] * weight[3];
    }
    for (const int16_t *end = x + (run & 3); x != end;) part += *x++ * *weight++;
    sum += part;
    count -= run;
  }
  return sum;
}
