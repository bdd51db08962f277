// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_nrf.h"

#include <string.h>

enum { READY = 0x400, CONFIG = 0x504, ERASE_PAGE = 0x508 };
enum { READ_ONLY = 0, WRITE = 1, ERASE = 2 };

static volatile uint32_t *at(uintptr_t address) { return (volatile uint32_t *)address; }

static void wait(const pl_flash_nrf *flash) {
  while ((*at(flash->nvmc + READY) & 1) == 0) {
  }
}

static void set_mode(const pl_flash_nrf *flash, uint32_t mode) {
  *at(flash->nvmc + CONFIG) = mode;
  wait(flash);
}

static bool erase(void *user, uint32_t offset) {
  const pl_flash_nrf *const flash = user;
  set_mode(flash, ERASE);
  *at(flash->nvmc + ERASE_PAGE) = (uint32_t)(flash->base + offset);
  wait(flash);
  set_mode(flash, READ_ONLY);
  return true;
}

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  const pl_flash_nrf *const flash = user;
  uint32_t word = 0;
  memcpy(&word, data, sizeof word);
  set_mode(flash, WRITE);
  *at(flash->base + offset) = word;
  wait(flash);
  set_mode(flash, READ_ONLY);
  return true;
}

pl_flash pl_flash_nrf_driver(const pl_flash_nrf *flash) {
  return (pl_flash){
      .memory = (const uint8_t *)flash->base,
      .bytes = flash->bytes,
      .sector_bytes = flash->page_bytes,
      .write_bytes = sizeof(uint32_t),
      .erase = erase,
      .program = program,
      .user = (void *)(uintptr_t)flash,
  };
}
