// SPDX-License-Identifier: Apache-2.0
// The NPU of the program's board, as described in boards/<name>/BUILD.bazel.
#ifndef FIRMWARE_ETHOS_U_DRIVER_THIS_BOARD_H_
#define FIRMWARE_ETHOS_U_DRIVER_THIS_BOARD_H_

#include "firmware/ethos_u/driver/driver.h"

#ifdef __cplusplus
extern "C" {
#endif

// `simulator` is the functional model. It is used if the board is declared as simulated. Otherwise,
// or with null, a board without an NPU is an error for ethos_u_open. The program adds the settings
// that are not in the board's data: ticks, wait, caches.
ethos_u_board ethos_u_this_board(ethos_u_device *simulator);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_DRIVER_THIS_BOARD_H_
