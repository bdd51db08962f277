// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_nrf.h"

#include <string.h>

enum { READY = 0x400, CONFIG = 0x504, ERASE_PAGE = 0x508 };
enum { READ_ONLY = 0, WRITE = 1, ERASE = 2 };

static volatile uint32_t *at(uintptr_t address) { return (volatile uint32_t *)address; }

// Turns of a loop: 2 s and more at 128 MHz, the highest clock, where a page is erased in 90 ms.
enum { MOST_TURNS = 1 << 26 };

static bool wait(const pl_flash_nrf *flash) {
  for (uint32_t i = 0; i < MOST_TURNS; ++i) {
    if ((*at(flash->nvmc + READY) & 1) != 0) return true;
  }
  return false;
}

static bool set_mode(const pl_flash_nrf *flash, uint32_t mode) {
  *at(flash->nvmc + CONFIG) = mode;
  return wait(flash);
}

// Also where the controller was not ready: nothing may be written by accident then.
static bool end(const pl_flash_nrf *flash, bool is_good) {
  return set_mode(flash, READ_ONLY) && is_good;
}

#if __ARM_ARCH >= 8
// Armv8-M chips, such as nRF5340, have no register for it: writing ones to the first word of a page
// erases it.
static void erase_page(const pl_flash_nrf *flash, uintptr_t page) {
  (void)flash;
  *at(page) = UINT32_MAX;
  __asm__ volatile("dsb" ::: "memory");  // written before READY is read
}
#else
static void erase_page(const pl_flash_nrf *flash, uintptr_t page) {
  *at(flash->nvmc + ERASE_PAGE) = (uint32_t)page;
}
#endif

static bool erase(void *user, uint32_t offset) {
  const pl_flash_nrf *const flash = user;
  if (!set_mode(flash, ERASE)) return end(flash, false);
  erase_page(flash, flash->base + offset);
  return end(flash, wait(flash));
}

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  const pl_flash_nrf *const flash = user;
  uint32_t word = 0;
  memcpy(&word, data, sizeof word);
  if (!set_mode(flash, WRITE)) return end(flash, false);
  *at(flash->base + offset) = word;
  __asm__ volatile("dsb" ::: "memory");  // written before READY is read
  return end(flash, wait(flash));
}

pl_flash pl_flash_nrf_driver(const pl_flash_nrf *flash) {
  return (pl_flash){
      .memory = (const uint8_t *)flash->base,
      .bytes = pl_flash_of_sectors(flash->base, flash->bytes, flash->page_bytes),
      .sector_bytes = flash->page_bytes,
      .write_bytes = sizeof(uint32_t),
      .erase = erase,
      .program = program,
      .user = (void *)(uintptr_t)flash,
  };
}
