// SPDX-License-Identifier: Apache-2.0
// The NPU of the program's board, ready for the delegates of plans:
//
//   static ethos_u_this_npu npu;
//   pl_engine engine;
//   ethos_u_status status = ethos_u_open_this_npu(&npu, &engine);
//   ... pl_model_init_with_engines(&model, &plan, &engine, 1) ...
//
// The core sleeps while the NPU works. The NPU's interrupt is enabled, and its handler, with the
// name from the board's chip, is part of the image. A run of more than ten seconds is
// ETHOS_U_ERROR_TIMEOUT. boards/host has no interrupts and polls.
//
// A board declared as simulated uses the functional model if no NPU answers. Other boards do not
// link it. The C file is generated from the board's data (this_npu.py).
#ifndef FIRMWARE_ETHOS_U_THIS_NPU_H_
#define FIRMWARE_ETHOS_U_THIS_NPU_H_

#include "firmware/ethos_u/driver/this_board.h"
#include "firmware/ethos_u/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

// Owned by the app; it must stay at its address as long as models run. Before the first run the app
// may change settings in `board` that are not in the board's data: caches, ticks, wait.
typedef struct {
  ethos_u_board board;
  ethos_u_driver driver;
  ethos_u_npu npu;
} ethos_u_this_npu;

// Finds the NPU and makes an engine of it. Returns the status of ethos_u_open.
ETHOS_U_MUST_USE ethos_u_status ethos_u_open_this_npu(ethos_u_this_npu *npu, pl_engine *engine);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_THIS_NPU_H_
