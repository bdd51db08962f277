// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/u85/scale.h"

bool npu_u85_scale_decode(npu_machine *machine, uint32_t key, npu_u85_scale *scale) {
  const uint32_t parameter = npu_register_parameter(machine, key);
  *scale = (npu_u85_scale){
      .multiplier = npu_register(machine, key),
      .shift = parameter & 63,
      .rounding = parameter >> 13 & 7,
      .double_round = parameter >> 6 & 31,
  };
  if (scale->rounding != NPU_U85_DOUBLE_SYMMETRIC && scale->rounding != NPU_U85_NATURAL &&
      scale->rounding != NPU_U85_TRUNCATE_TO_LOWER) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, key, "round_mode", scale->rounding);
  }
  if (scale->double_round > 30) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, key, "dbl_rnd", scale->double_round);
  }
  return npu_ok(machine);
}

static int64_t rounding_of(int64_t value, npu_u85_scale scale) {
  if (scale.rounding == NPU_U85_TRUNCATE_TO_LOWER || scale.shift == 0) {
    return 0;
  }
  int64_t rounding = (int64_t)1 << (scale.shift - 1);
  if (scale.rounding == NPU_U85_DOUBLE_SYMMETRIC && scale.shift > 31 - scale.double_round) {
    const int64_t second = (int64_t)1 << (30 - scale.double_round);
    rounding += value >= 0 ? second : -second;
  }
  return rounding;
}

bool npu_u85_rescale(int64_t value, npu_u85_scale scale, int64_t *result) {
  const int64_t rounding = rounding_of(value, scale);
  // The sum in words of 32 bits: high * 2^32 + low.
  const int64_t multiplier = scale.multiplier;
  const uint64_t product = (uint64_t)(uint32_t)value * scale.multiplier;
  const uint64_t low = (product & UINT32_MAX) + ((uint64_t)rounding & UINT32_MAX);
  const int64_t high = (value >> 32) * multiplier + (int64_t)(product >> 32) + (rounding >> 32) +
                       (int64_t)(low >> 32);
  if (scale.shift >= 32) {
    *result = high >> (scale.shift - 32);
    return true;
  }
  const int64_t limit = (int64_t)1 << (30 + scale.shift);
  if (high >= limit || high < -limit) {
    return false;
  }
  *result = (int64_t)((uint64_t)high << (32 - scale.shift)) |
            (int64_t)((low & UINT32_MAX) >> scale.shift);
  return true;
}
