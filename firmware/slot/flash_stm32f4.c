// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32f4.h"

#include <string.h>

#include "firmware/slot/flash_stm32.h"

enum { SECTOR_BYTES = 128 * 1024, FIRST_BASE = 0x08020000, FIRST_SECTOR = 5 };
enum { PROGRAM = 1 << 0, ERASE = 1 << 1, SECTOR = 3, WORDS = 2 << 8, START = 1 << 16 };
enum { CONTROLLER = 0x40023c00, KEYR = 0x04, SR = 0x0c, CR = 0x10, SR_ERRORS = 0xf2 };

static const pl_flash_stm32 controller = {CONTROLLER, KEYR, SR, CR, SR_ERRORS, true};

static bool erase(void *user, uint32_t offset) {
  const pl_flash_stm32f4 *const flash = user;
  const uint32_t sector =
      FIRST_SECTOR + (uint32_t)(flash->base + offset - FIRST_BASE) / SECTOR_BYTES;
  const uint32_t control = ERASE | sector << SECTOR | WORDS;
  uint32_t begun;
  if (!pl_flash_stm32_begin(&controller, control, &begun)) return false;
  *pl_flash_stm32_at(CONTROLLER + CR) = control | START;
  return pl_flash_stm32_end(&controller, begun);
}

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  const pl_flash_stm32f4 *const flash = user;
  uint32_t word = 0;
  memcpy(&word, data, sizeof word);
  uint32_t begun;
  if (!pl_flash_stm32_begin(&controller, PROGRAM | WORDS, &begun)) return false;
  pl_flash_stm32_store(flash->base + offset, word);
  return pl_flash_stm32_end(&controller, begun);
}

pl_flash pl_flash_stm32f4_driver(const pl_flash_stm32f4 *flash) {
  // Sectors before the first are smaller.
  const uint32_t bytes = flash->base < FIRST_BASE ? 0 : flash->bytes;
  return (pl_flash){
      .memory = (const uint8_t *)flash->base,
      .bytes = pl_flash_of_sectors(flash->base, bytes, SECTOR_BYTES),
      .sector_bytes = SECTOR_BYTES,
      .write_bytes = sizeof(uint32_t),
      .erase = erase,
      .program = program,
      .user = (void *)(uintptr_t)flash,
  };
}
