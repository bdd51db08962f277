// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_nrf.h"
#include "firmware/slot/testing/flash_of_board.h"

#if __ARM_ARCH >= 8
// The nRF5340's: 1 MB, the last 32 KB of them.
static pl_flash_nrf flash = {0x50039000, 4096, 0xf8000, 32 * 1024};
#else
// The micro:bit's: 256 KB, the last 32 of them.
static pl_flash_nrf flash = {0x4001e000, 1024, 0x38000, 32 * 1024};
#endif

pl_flash flash_of_board(uint32_t behind) {
  flash.base += behind;
  const pl_flash driver = pl_flash_nrf_driver(&flash);
  flash.base -= behind;
  return driver;
}
