// SPDX-License-Identifier: Apache-2.0
// The operations of a command stream, one family a file. Each decodes the registers, checks them
// and, unless inspecting, executes. False on error. Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_OPERATIONS_H_
#define FIRMWARE_ETHOS_U_MODEL_OPERATIONS_H_

#include "npu/ethos_u/model/machine.h"

bool npu_run_conv(npu_machine *machine);
bool npu_run_depthwise(npu_machine *machine);
bool npu_run_pool(npu_machine *machine, uint32_t mode);
bool npu_run_elementwise(npu_machine *machine, uint32_t mode);
bool npu_run_dma(npu_machine *machine);

// Any operation of U85 (directory u85).
bool npu_u85_run(npu_machine *machine, uint32_t key, uint32_t parameter);

#endif  // FIRMWARE_ETHOS_U_MODEL_OPERATIONS_H_
