// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_rp2.h"
#include "firmware/slot/testing/flash_of_board.h"

// The last 64 KB of Pico's.
static pl_flash_rp2 flash = {0x101f0000, 64 * 1024};

pl_flash flash_of_board(uint32_t behind) {
  flash.base += behind;
  const pl_flash driver = pl_flash_rp2_driver(&flash);
  flash.base -= behind;
  return driver;
}
