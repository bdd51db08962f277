// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32l4.h"
#include "firmware/slot/testing/flash_of_board.h"

// 16 KB at the end of the first bank, 16 at the start of the second.
static pl_flash_stm32l4 flash = {0x0807c000, 32 * 1024, 512 * 1024};

pl_flash flash_of_board(uint32_t behind) {
  flash.base += behind;
  const pl_flash driver = pl_flash_stm32l4_driver(&flash);
  flash.base -= behind;
  return driver;
}
