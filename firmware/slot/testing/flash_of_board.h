// SPDX-License-Identifier: Apache-2.0
//
// The flash that on_flash.c has its slots in.
#ifndef FIRMWARE_SLOT_TESTING_FLASH_OF_BOARD_H_
#define FIRMWARE_SLOT_TESTING_FLASH_OF_BOARD_H_

#include "firmware/slot/flash.h"

// From `behind` bytes behind the begin of a sector on.
pl_flash flash_of_board(uint32_t behind);

#endif  // FIRMWARE_SLOT_TESTING_FLASH_OF_BOARD_H_
