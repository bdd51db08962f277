// SPDX-License-Identifier: Apache-2.0
// Hazards between transfers and kernels. The NPU runs both in parallel. The stream orders them with
// OP_DMA_WAIT and OP_KERNEL_WAIT. An operation may start while one of the other kind is still
// running. It must then not touch bytes written by the running one, nor write bytes touched by the
// running one. (The NPU orders kernels among themselves.) Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_HAZARD_H_
#define FIRMWARE_ETHOS_U_MODEL_HAZARD_H_

#include "npu/ethos_u/model/machine.h"

// Checks the current operation's accesses against outstanding ones, and makes them outstanding.
// Returns false if there is a hazard.
bool npu_hazard_start(npu_machine *machine, bool is_transfer);

// After OP_DMA_WAIT or OP_KERNEL_WAIT: at most `left` operations of that kind are outstanding.
void npu_hazard_wait(npu_queue *queue, uint32_t left);

#endif  // FIRMWARE_ETHOS_U_MODEL_HAZARD_H_
