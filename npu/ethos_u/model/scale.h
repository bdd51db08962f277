// SPDX-License-Identifier: Apache-2.0
// Rescaling: (value * multiplier + rounding) >> shift, exact in 64 bits or refused. The rounding is
// that of TOSA's RESCALE: half up (natural). Above a shift of 31 it is half away from zero at bit
// 31, then half up (double). Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_SCALE_H_
#define FIRMWARE_ETHOS_U_MODEL_SCALE_H_

#include <stdbool.h>
#include <stdint.h>

typedef enum { NPU_ROUND_DOUBLE = 0, NPU_ROUND_TRUNCATE = 1, NPU_ROUND_NATURAL = 2 } npu_rounding;

typedef struct {
  int64_t rounding;  // half of the shifted-out range
  uint32_t multiplier;
  uint8_t shift;  // 0 to 63
  bool round_double;
} npu_scale;

static inline npu_scale npu_make_scale(uint32_t multiplier, uint32_t shift, bool round_double) {
  return (npu_scale){
      .rounding = shift == 0 ? 0 : (int64_t)1 << (shift - 1),
      .multiplier = multiplier,
      .shift = (uint8_t)shift,
      .round_double = round_double && shift > 31,
  };
}

// False if the product does not fit.
static inline bool npu_rescale(int64_t value, npu_scale scale, int64_t *result) {
  const int64_t multiplier = scale.multiplier;
  int64_t product;
  if (value == (int32_t)value && multiplier <= INT32_MAX) {
    product = (int64_t)(int32_t)value * (int32_t)multiplier;  // one instruction on 32-bit cores
  } else {
    const int64_t limit = multiplier == 0 ? INT64_MAX : (INT64_MAX >> 1) / multiplier;
    if (value > limit || value < -limit) {
      return false;
    }
    product = value * multiplier;
  }
  product += scale.rounding;
  if (scale.round_double) {
    product += value >= 0 ? (int64_t)1 << 30 : -((int64_t)1 << 30);
  }
  *result = product >> scale.shift;
  return true;
}

#endif  // FIRMWARE_ETHOS_U_MODEL_SCALE_H_
