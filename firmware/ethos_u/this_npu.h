// SPDX-License-Identifier: Apache-2.0
// The NPU of the board that the program is for, ready for the delegates of plans:
//
//   static ethos_u_this_npu npu;
//   pl_engine engine;
//   ethos_u_status status = ethos_u_open_this_npu(&npu, &engine);
//   ... pl_model_init_with_engines(&model, &plan, &engine, 1) ...
//
// The core sleeps while the NPU works: the NPU's interrupt is enabled, and its handler, by the name
// that the board's chip gives it, is part of the image. A run that takes more than ten seconds is
// ETHOS_U_ERROR_TIMEOUT. boards/host, which has no interrupts, polls.
//
// On a board that is declared as simulated the functional model stands in where no NPU answers; on
// others it is not linked. The C file is made of the board's data (this_npu.py).
#ifndef FIRMWARE_ETHOS_U_THIS_NPU_H_
#define FIRMWARE_ETHOS_U_THIS_NPU_H_

#include "firmware/ethos_u/driver/this_board.h"
#include "firmware/ethos_u/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

// Owned by the app; it must stay where it is as long as models run. Between opening it and the
// first run the app may change in `board` what data cannot say: caches, ticks, wait.
typedef struct {
  ethos_u_board board;
  ethos_u_driver driver;
  ethos_u_npu npu;
} ethos_u_this_npu;

// Finds the NPU and makes an engine of it. What ethos_u_open returns.
ETHOS_U_MUST_USE ethos_u_status ethos_u_open_this_npu(ethos_u_this_npu *npu, pl_engine *engine);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_THIS_NPU_H_
