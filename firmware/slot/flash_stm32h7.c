// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32h7.h"

#include <string.h>

enum { SECTOR_BYTES = 128 * 1024, UNIT_BYTES = 32, BANK_BYTES = 1024 * 1024 };
enum { FIRST_BASE = 0x08000000 };

// Each bank has its registers.
enum { CONTROLLER = 0x52002000, OF_NEXT_BANK = 0x100 };
enum { KEYR = 0x04, CR = 0x0c, SR = 0x10, CCR = 0x14 };
enum { LOCK = 1 << 0, PROGRAM = 1 << 1, ERASE = 1 << 2, PARALLEL = 3 << 4, START = 1 << 7 };
enum { SECTOR = 8, STATUS_BUSY = 7, STATUS_ENDED = 1 << 16, TWO_BITS = 1 << 26 };
enum { STATUS_ERRORS = 0x6e << 16 };

static const uint32_t FIRST_KEY = 0x45670123u;
static const uint32_t SECOND_KEY = 0xcdef89abu;

// Turns of a loop: 5 s and more at 480 MHz, the highest clock, where a sector is erased in 4 s.
enum { MOST_TURNS = 1 << 29 };

// For the core: its data cache, and the option to ignore failing loads while faults are masked.
enum { CORE_CCR = 0xe000ed14, IGNORE_FAULTS = 1 << 8, DATA_CACHE = 1 << 16 };
enum { DCIMVAC = 0xe000ef5c, CACHE_LINE = 32 };

static volatile uint32_t *at(uintptr_t address) { return (volatile uint32_t *)address; }

static void synchronize(void) { __asm__ volatile("dsb\n\tisb" ::: "memory"); }

static uintptr_t bank_of(uintptr_t place) {
  return CONTROLLER + (place - FIRST_BASE < BANK_BYTES ? 0 : OF_NEXT_BANK);
}

static bool wait(uintptr_t bank) {
  for (uint32_t i = 0; i < MOST_TURNS; ++i) {
    if ((*at(bank + SR) & STATUS_BUSY) == 0) return true;
  }
  return false;
}

// Unlocks a bank, with no error noted. How many bits it writes at once stays as the program has it.
static bool begin(uintptr_t bank, uint32_t control) {
  if (!wait(bank)) return false;
  if ((*at(bank + CR) & LOCK) != 0) {
    *at(bank + KEYR) = FIRST_KEY;
    *at(bank + KEYR) = SECOND_KEY;
  }
  *at(bank + CCR) = STATUS_ERRORS | STATUS_ENDED;
  *at(bank + CR) = (*at(bank + CR) & PARALLEL) | control;
  synchronize();
  return true;
}

// Waits, and invalidates this part in the core's cache.
static bool end(uintptr_t bank, uintptr_t place, uint32_t bytes) {
  const bool has_ended = wait(bank);
  const bool is_good = (*at(bank + SR) & STATUS_ERRORS) == 0;
  *at(bank + CR) &= PARALLEL;
  *at(bank + CR) |= LOCK;
  if ((*at(CORE_CCR) & DATA_CACHE) != 0) {
    for (uint32_t line = 0; line < bytes; line += CACHE_LINE) *at(DCIMVAC) = (uint32_t)place + line;
  }
  synchronize();
  return has_ended && is_good;
}

static bool erase(void *user, uint32_t offset) {
  const pl_flash_stm32h7 *const flash = user;
  const uintptr_t place = flash->base + offset;
  const uintptr_t bank = bank_of(place);
  const uint32_t sector = (uint32_t)(place - FIRST_BASE) % BANK_BYTES / SECTOR_BYTES;
  if (!begin(bank, ERASE | sector << SECTOR)) return false;
  *at(bank + CR) |= START;
  synchronize();
  return end(bank, place, SECTOR_BYTES);
}

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  const pl_flash_stm32h7 *const flash = user;
  const uintptr_t place = flash->base + offset;
  const uintptr_t bank = bank_of(place);
  if (!begin(bank, PROGRAM)) return false;
  for (uint32_t i = 0; i < UNIT_BYTES; i += sizeof(uint32_t)) {
    uint32_t word = 0;
    memcpy(&word, data + i, sizeof word);
    *at(place + i) = word;
    // For the core, flash is memory: it may delay and reorder writes.
    __asm__ volatile("dsb" ::: "memory");
  }
  return end(bank, place, UNIT_BYTES);
}

// Reads a word of a unit with masked faults, so failing loads are ignored.
static bool is_whole(uintptr_t place) {
  const uintptr_t bank = bank_of(place);
  *at(bank + CCR) = TWO_BITS;
  const uint32_t before = *at(CORE_CCR);
  __asm__ volatile("cpsid f" ::: "memory");
  *at(CORE_CCR) = before | IGNORE_FAULTS;
  synchronize();
  (void)*at(place);
  synchronize();
  *at(CORE_CCR) = before;
  synchronize();
  __asm__ volatile("cpsie f" ::: "memory");
  const bool is_torn = (*at(bank + SR) & TWO_BITS) != 0;
  *at(bank + CCR) = TWO_BITS;
  return !is_torn;
}

static bool can_read(void *user, uint32_t offset, uint32_t bytes) {
  const pl_flash_stm32h7 *const flash = user;
  const uintptr_t first = flash->base + offset / UNIT_BYTES * UNIT_BYTES;
  for (uintptr_t place = first; place < flash->base + offset + bytes; place += UNIT_BYTES) {
    if (!is_whole(place)) return false;
  }
  return true;
}

pl_flash pl_flash_stm32h7_driver(const pl_flash_stm32h7 *flash) {
  return (pl_flash){
      .memory = (const uint8_t *)flash->base,
      .bytes = pl_flash_of_sectors(flash->base, flash->bytes, SECTOR_BYTES),
      .sector_bytes = SECTOR_BYTES,
      .write_bytes = UNIT_BYTES,
      .erase = erase,
      .program = program,
      .can_read = can_read,
      .user = (void *)(uintptr_t)flash,
  };
}
