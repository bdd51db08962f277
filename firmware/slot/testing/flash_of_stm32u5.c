// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32u5.h"
#include "firmware/slot/testing/flash_of_board.h"

// 32 KB at the end of the first bank, 32 at the start of the second.
static pl_flash_stm32u5 flash = {0x080f8000, 64 * 1024, 1024 * 1024};

pl_flash flash_of_board(uint32_t behind) {
  flash.base += behind;
  const pl_flash driver = pl_flash_stm32u5_driver(&flash);
  flash.base -= behind;
  return driver;
}
