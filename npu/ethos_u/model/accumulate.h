// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolutions. Sums are of at most as many products as surely fit 32 bits.
// Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_ACCUMULATE_H_
#define FIRMWARE_ETHOS_U_MODEL_ACCUMULATE_H_

#include <stdint.h>

enum {
  // Products of 9-bit weights with 9-bit or 16-bit activations that fit 32 bits together.
  NPU_TERMS_8 = 32768,
  NPU_TERMS_16 = 256,
};

// sums[k] = sum of x[i] * w[k * step + i] over i < n, for k < 4. `n` is a multiple of 16.
void npu_dot4(const int16_t *x, const int16_t *w, int32_t step, int32_t n, int32_t sums[4]);

// sums[i] += x[i] * w[i]
void npu_multiply_add(const int16_t *x, const int16_t *w, int32_t n, int32_t *sums);

#endif  // FIRMWARE_ETHOS_U_MODEL_ACCUMULATE_H_
