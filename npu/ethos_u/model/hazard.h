// SPDX-License-Identifier: Apache-2.0
// Hazards between transfers and kernels. The NPU runs both side by side; the stream orders them
// with OP_DMA_WAIT and OP_KERNEL_WAIT. An operation that starts while one of the other kind may
// still be running must not touch what that one writes, nor write what it touches. (Kernels among
// themselves are ordered by the NPU.) Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_HAZARD_H_
#define FIRMWARE_ETHOS_U_MODEL_HAZARD_H_

#include "npu/ethos_u/model/machine.h"

// Checks the current operation's accesses against those that are outstanding, and makes it
// outstanding itself. False if there is a hazard.
bool npu_hazard_start(npu_machine *machine, bool is_transfer);

// After OP_DMA_WAIT or OP_KERNEL_WAIT: at most `left` operations of that kind are outstanding.
void npu_hazard_wait(npu_queue *queue, uint32_t left);

#endif  // FIRMWARE_ETHOS_U_MODEL_HAZARD_H_
