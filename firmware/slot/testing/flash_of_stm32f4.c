// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32f4.h"
#include "firmware/slot/testing/flash_of_board.h"

// The last 512 KB of 1 MB: four sectors.
static pl_flash_stm32f4 flash = {0x08080000, 512 * 1024};

pl_flash flash_of_board(uint32_t behind) {
  flash.base += behind;
  const pl_flash driver = pl_flash_stm32f4_driver(&flash);
  flash.base -= behind;
  return driver;
}
