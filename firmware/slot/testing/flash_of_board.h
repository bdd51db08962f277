// SPDX-License-Identifier: Apache-2.0
//
// The flash with the slots of on_flash.c.
#ifndef FIRMWARE_SLOT_TESTING_FLASH_OF_BOARD_H_
#define FIRMWARE_SLOT_TESTING_FLASH_OF_BOARD_H_

#include "firmware/slot/flash.h"

// Returns the flash from `behind` bytes after the start of a sector on.
pl_flash flash_of_board(uint32_t behind);

#endif  // FIRMWARE_SLOT_TESTING_FLASH_OF_BOARD_H_
