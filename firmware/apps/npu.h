// SPDX-License-Identifier: Apache-2.0
//
// Apps whose plan has delegates of an Ethos-U: they run on the board's NPU.
#ifndef FIRMWARE_APPS_NPU_H_
#define FIRMWARE_APPS_NPU_H_

#include "firmware/apps/inference.h"

// pl_app_init with the board's NPU. If the NPU fails later, its own error name is printed.
void pl_app_init_with_npu(pl_app *app, const pl_vectors *vectors);

#endif  // FIRMWARE_APPS_NPU_H_
