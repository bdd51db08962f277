// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32l4.h"

#include <stdlib.h>
#include <string.h>

#include "firmware/slot/flash_stm32.h"

enum { PAGE_BYTES = 2048, FIRST_BASE = 0x08000000 };
enum { PROGRAM = 1 << 0, ERASE = 1 << 1, PAGE = 3, BANK = 1 << 11, START = 1 << 16 };
enum { CONTROLLER = 0x40022000, KEYR = 0x08, SR = 0x10, CR = 0x14, ECCR = 0x18 };
enum { SR_ERRORS = 0xc3fa };

static const pl_flash_stm32 controller = {CONTROLLER, KEYR, SR, CR, SR_ERRORS};
static const uint32_t ECCR_TWO_BITS = 1u << 31;

void NMI_Handler(void);

// What else raises it is not expected by anybody.
void NMI_Handler(void) {
  if ((*pl_flash_stm32_at(CONTROLLER + ECCR) & ECCR_TWO_BITS) == 0) abort();
  *pl_flash_stm32_at(CONTROLLER + ECCR) |= ECCR_TWO_BITS;
}

static bool erase(void *user, uint32_t offset) {
  const pl_flash_stm32l4 *const flash = user;
  const uint32_t at = (uint32_t)(flash->base + offset - FIRST_BASE);
  const uint32_t bank = at < flash->bank_bytes ? 0 : BANK;
  const uint32_t control = ERASE | at % flash->bank_bytes / PAGE_BYTES << PAGE | bank;
  const uint32_t begun = pl_flash_stm32_begin(&controller, control);
  *pl_flash_stm32_at(CONTROLLER + CR) = control | START;
  return pl_flash_stm32_end(&controller, begun);
}

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  const pl_flash_stm32l4 *const flash = user;
  uint32_t words[2];
  memcpy(words, data, sizeof words);
  const uint32_t begun = pl_flash_stm32_begin(&controller, PROGRAM);
  *pl_flash_stm32_at(flash->base + offset) = words[0];
  *pl_flash_stm32_at(flash->base + offset + sizeof words[0]) = words[1];
  return pl_flash_stm32_end(&controller, begun);
}

pl_flash pl_flash_stm32l4_driver(const pl_flash_stm32l4 *flash) {
  return (pl_flash){
      .memory = (const uint8_t *)flash->base,
      .bytes = flash->bytes,
      .sector_bytes = PAGE_BYTES,
      .write_bytes = 2 * sizeof(uint32_t),
      .erase = erase,
      .program = program,
      .user = (void *)(uintptr_t)flash,
  };
}
