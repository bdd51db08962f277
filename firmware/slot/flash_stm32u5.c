// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32u5.h"

enum { ICACHE_CR = 0x40030400, ICACHE_SR = 0x40030404, ICACHE_FCR = 0x4003040c };
enum { CR_ENABLE = 1 << 0, CR_INVALIDATE = 1 << 1, SR_BUSY = 1 << 0, FCR_BUSY_ENDED = 1 << 1 };
enum { MOST_TURNS = 1 << 16 };  // it is some hundred cycles

// If a program turns it on, the instruction cache also holds flash data.
static void empty_cache(void) {
  if ((*pl_flash_stm32_at(ICACHE_CR) & CR_ENABLE) == 0) return;
  *pl_flash_stm32_at(ICACHE_CR) = *pl_flash_stm32_at(ICACHE_CR) | CR_INVALIDATE;
  for (uint32_t i = 0; i < MOST_TURNS; ++i) {
    if ((*pl_flash_stm32_at(ICACHE_SR) & SR_BUSY) == 0) break;
  }
  *pl_flash_stm32_at(ICACHE_FCR) = FCR_BUSY_ENDED;
}

static const pl_flash_stm32_family family = {
    .controller = {.base = 0x40022000,
                   .key = 0x08,
                   .status = 0x20,
                   .control = 0x28,
                   .errors = 0x20fa,
                   .has_cache = false},
    .page_bytes = 8192,
    .write_bytes = 16,
    .eccr = 0x30,
    .place = (1 << 21) - 1,  // banks of 4 MB chips have 2 MB
    .bank = 1 << 21,
    .system = 1 << 22,
    .empty_cache = empty_cache,
};

pl_flash pl_flash_stm32u5_driver(const pl_flash_stm32u5 *flash) {
  return pl_flash_stm32_pages_driver(&family, flash);
}
