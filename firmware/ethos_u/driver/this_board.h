// SPDX-License-Identifier: Apache-2.0
// The NPU of the board that the program is for, as boards/<name>/BUILD.bazel describes it.
#ifndef FIRMWARE_ETHOS_U_DRIVER_THIS_BOARD_H_
#define FIRMWARE_ETHOS_U_DRIVER_THIS_BOARD_H_

#include "firmware/ethos_u/driver/driver.h"

#ifdef __cplusplus
extern "C" {
#endif

// `simulator` is the functional model. It is taken if the board is declared as simulated; else, or
// with null, a board where no NPU answers is an error for ethos_u_open. The program adds what data
// cannot say: ticks, wait, caches.
ethos_u_board ethos_u_this_board(ethos_u_device *simulator);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_DRIVER_THIS_BOARD_H_
