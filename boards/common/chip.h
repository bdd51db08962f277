// SPDX-License-Identifier: Apache-2.0
//
// Preparation of a chip before programs run on it (`init` of chip() in boards/board.bzl).
#ifndef BOARDS_COMMON_CHIP_H_
#define BOARDS_COMMON_CHIP_H_

#ifdef __cplusplus
extern "C" {
#endif

// Prepares the chip: clocks, watchdogs, memories that are off after reset. It runs once, when the
// core is ready and before variables have their values. It must not use variables.
void pl_chip_init(void);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_COMMON_CHIP_H_
