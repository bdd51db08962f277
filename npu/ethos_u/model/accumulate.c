// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/accumulate.h"

// Vectors, where the compiler makes them.
enum { LANES = 16 };

void npu_dot4(const int16_t *restrict x, const int16_t *restrict w, int32_t step, int32_t n,
              int32_t sums[4]) {
  const int16_t *restrict w1 = w + step;
  const int16_t *restrict w2 = w1 + step;
  const int16_t *restrict w3 = w2 + step;
  int32_t s0 = 0;
  int32_t s1 = 0;
  int32_t s2 = 0;
  int32_t s3 = 0;
  for (int32_t i = 0; i < n; i += LANES) {
    for (int32_t k = i; k < i + LANES; ++k) {
      s0 += x[k] * w[k];
      s1 += x[k] * w1[k];
      s2 += x[k] * w2[k];
      s3 += x[k] * w3[k];
    }
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

void npu_multiply_add(const int16_t *restrict x, const int16_t *restrict w, int32_t n,
                      int32_t *restrict sums) {
  for (int32_t i = 0; i < n; ++i) {
    sums[i] += x[i] * w[i];
  }
}
