// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32l4.h"

#include <stddef.h>

static const pl_flash_stm32_family family = {
    .controller = {.base = 0x40022000,
                   .key = 0x08,
                   .status = 0x10,
                   .control = 0x14,
                   .errors = 0xc3fa,
                   .has_cache = true},
    .page_bytes = 2048,
    .write_bytes = 8,
    .eccr = 0x18,
    .place = (1 << 19) - 1,
    .bank = 1 << 19,
    .system = 1 << 20,
    .empty_cache = NULL,
};

pl_flash pl_flash_stm32l4_driver(const pl_flash_stm32l4 *flash) {
  return pl_flash_stm32_pages_driver(&family, flash);
}
