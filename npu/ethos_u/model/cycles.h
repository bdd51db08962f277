// SPDX-License-Identifier: Apache-2.0
// Estimate of an operation's cycles, by Vela's model of the NPU. The slowest of MAC units, output
// stage, memory ports and command issue counts. Vela 5.1.0 bills results without an activation as
// those of a lookup; this estimate does not. It is no measurement. Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_CYCLES_H_
#define FIRMWARE_ETHOS_U_MODEL_CYCLES_H_

#include "npu/ethos_u/model/output.h"
#include "npu/ethos_u/model/window.h"

typedef enum {
  NPU_WORK_CONV,       // depth first
  NPU_WORK_CONV_PART,  // part kernel first
  NPU_WORK_DEPTHWISE,
  NPU_WORK_POOL,
  NPU_WORK_REDUCE_SUM,
  NPU_WORK_ELEMENTWISE,
} npu_work_kind;

// Work of the output stage on an element, by cost.
typedef enum {
  NPU_OUTPUT_UNARY_32 = 0,
  NPU_OUTPUT_BINARY_32 = 1,
  NPU_OUTPUT_MUL_TO_32 = 2,
  NPU_OUTPUT_MUL = 3,  // and sums of 40 bits
  NPU_OUTPUT_ADD = 5,
  NPU_OUTPUT_MAX = 6,
  NPU_OUTPUT_OTHER = 7,
  NPU_OUTPUT_CLASSES,
} npu_output_class;

typedef struct {
  npu_work_kind kind;
  npu_output_class output_class;
  const npu_feature_map *ifm;
  const npu_feature_map *ifm2;  // null if there is none
  const npu_output *output;
  const npu_window *window;  // null for elementwise operations
  uint64_t weight_bytes;     // encoded, with scales
  uint8_t weight_region;
} npu_work;

// Puts the estimate into the current operation's counts.
void npu_estimate_kernel(npu_machine *machine, const npu_work *work);

// The same for a transfer; the target is the LUT memory if `to_lut`.
void npu_estimate_transfer(npu_machine *machine, uint32_t from, uint32_t to, bool to_lut,
                           uint64_t bytes);

#endif  // FIRMWARE_ETHOS_U_MODEL_CYCLES_H_
