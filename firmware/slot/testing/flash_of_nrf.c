// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_nrf.h"
#include "firmware/slot/testing/flash_of_board.h"

// The micro:bit's: 256 KB, the last 32 of them.
static pl_flash_nrf flash = {0x4001e000, 1024, 0x38000, 32 * 1024};

pl_flash flash_of_board(uint32_t behind) {
  flash.base += behind;
  const pl_flash driver = pl_flash_nrf_driver(&flash);
  flash.base -= behind;
  return driver;
}
