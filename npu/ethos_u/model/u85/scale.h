// SPDX-License-Identifier: Apache-2.0
// Rescaling of U85: (value * multiplier + rounding) >> shift, exact in 63 bits or refused. Internal
// to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_U85_SCALE_H_
#define FIRMWARE_ETHOS_U_MODEL_U85_SCALE_H_

#include "npu/ethos_u/model/machine.h"

typedef enum {
  NPU_U85_DOUBLE_SYMMETRIC = 0,
  NPU_U85_NATURAL = 1,
  NPU_U85_TRUNCATE_TO_LOWER = 5,
} npu_u85_rounding;

typedef struct {
  uint32_t multiplier;
  uint8_t shift;  // 0 to 63
  uint8_t rounding;
  uint8_t double_round;  // the second rounding is of 30 bits less this
} npu_u85_scale;

// Reads OFM_SCALE, IFM_SCALE or IFM2_SCALE. Refuses rounding modes of unknown arithmetic. False on
// error.
bool npu_u85_scale_decode(npu_machine *machine, uint32_t key, npu_u85_scale *scale);

// False if the result does not fit 63 bits.
bool npu_u85_rescale(int64_t value, npu_u85_scale scale, int64_t *result);

#endif  // FIRMWARE_ETHOS_U_MODEL_U85_SCALE_H_
