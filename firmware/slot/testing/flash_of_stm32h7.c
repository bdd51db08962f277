// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32h7.h"
#include "firmware/slot/testing/flash_of_board.h"

// The second half of the second bank: two sectors a slot.
static pl_flash_stm32h7 flash = {0x08180000, 512 * 1024};

pl_flash flash_of_board(uint32_t behind) {
  flash.base += behind;
  const pl_flash driver = pl_flash_stm32h7_driver(&flash);
  flash.base -= behind;
  return driver;
}
