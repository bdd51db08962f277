// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_rp2.h"

#include <string.h>

#include "boards/common/irq.h"

enum { SECTOR_BYTES = 4096, PAGE_BYTES = 256, UNIT_BYTES = 32, FLASH_BASE = 0x10000000 };
enum { BLOCK_BYTES = 64 * 1024, ERASE_BLOCK = 0xd8 };  // used by the ROM for more than a sector

// Constants of the ROMs: RP2040 Datasheet, "Bootrom Contents", RP2350 Datasheet, "Bootrom APIs".
enum { VERSION = 0x12, RP2040 = 1, RP2350 = 2 };
enum { RP2040_TABLE = 0x14, RP2040_LOOKUP = 0x18, RP2350_LOOKUP = 0x16, FOR_SECURE_ARM = 4 };

// Code that restores memory-mapped reads: 256 bytes at most, position-independent.
enum { SETUP_WORDS = 63, RP2350_BOOT_RAM = 0x400e0000 };

// Functions to call in sequence, and the arguments of `change`.
typedef struct {
  uintptr_t arguments[4];
  uintptr_t connect;
  uintptr_t exit_xip;
  uintptr_t change;
  uintptr_t flush;
  uintptr_t setup;
} pl_rom_calls;

_Static_assert(sizeof(pl_rom_calls) == 36, "the offsets below");

enum { RUN_WORDS = 9 };

// Runs where it is copied to, with a pl_rom_calls.
__attribute__((naked, aligned(4))) static void run_calls(void) {
  __asm__ volatile(
      "push {r4, r5, r6, lr}\n\t"
      "mov r4, r0\n\t"
      "ldr r1, [r4, #16]\n\t"
      "blx r1\n\t"
      "ldr r1, [r4, #20]\n\t"
      "blx r1\n\t"
      "ldr r5, [r4, #24]\n\t"
      "ldr r0, [r4, #0]\n\t"
      "ldr r1, [r4, #4]\n\t"
      "ldr r2, [r4, #8]\n\t"
      "ldr r3, [r4, #12]\n\t"
      "blx r5\n\t"
      "ldr r1, [r4, #28]\n\t"
      "blx r1\n\t"
      "ldr r1, [r4, #32]\n\t"
      "blx r1\n\t"
      "pop {r4, r5, r6, pc}\n\t"
      ".balign 4");
}

// The compiler assumes that there is no object at a visible address this low.
static uint32_t rom_half(uintptr_t address) {
  __asm__("" : "+r"(address));
  return *(const volatile uint16_t *)address;
}

static uint32_t version(void) { return rom_half(VERSION) & 0xff; }

// 0 if there is none.
static uintptr_t find(char first, char second) {
  const uint32_t code = (uint32_t)first | (uint32_t)second << 8;
  const bool is_rp2040 = version() == RP2040;
  if (!is_rp2040 && version() != RP2350) return 0;
  const uintptr_t lookup = rom_half(is_rp2040 ? RP2040_LOOKUP : RP2350_LOOKUP);
  uintptr_t (*const look)(uint32_t, uint32_t) = (uintptr_t (*)(uint32_t, uint32_t))lookup;
  return is_rp2040 ? look(rom_half(RP2040_TABLE), code) : look(code, FOR_SECURE_ARM);
}

static void copy(uint32_t *to, uintptr_t from, uint32_t words) {
  const volatile uint32_t *const words_from = (const volatile uint32_t *)from;
  for (uint32_t i = 0; i < words; ++i) to[i] = words_from[i];
}

static bool call(pl_rom_calls *calls) {
  uint32_t setup[SETUP_WORDS];
  uint32_t run[RUN_WORDS];
  calls->connect = find('I', 'F');
  calls->exit_xip = find('E', 'X');
  calls->flush = find('F', 'C');
  calls->setup = (uintptr_t)setup | 1;
  if (calls->connect == 0 || calls->exit_xip == 0 || calls->change == 0 || calls->flush == 0) {
    return false;
  }
  copy(setup, version() == RP2040 ? FLASH_BASE : RP2350_BOOT_RAM, SETUP_WORDS);
  copy(run, (uintptr_t)run_calls & ~(uintptr_t)1, RUN_WORDS);
  void (*const run_there)(const pl_rom_calls *) =
      (void (*)(const pl_rom_calls *))((uintptr_t)run | 1);
  const uint32_t locked = pl_irq_lock();
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  run_there(calls);
  pl_irq_unlock(locked);
  return true;
}

static bool erase(void *user, uint32_t offset) {
  const pl_flash_rp2 *const flash = user;
  const uintptr_t place = flash->base - FLASH_BASE + offset;
  pl_rom_calls calls = {
      .arguments = {place, SECTOR_BYTES, BLOCK_BYTES, ERASE_BLOCK},
      .change = find('R', 'E'),
  };
  return call(&calls);
}

// The ROM programs pages. Bytes of 0xff in them stay unchanged.
static bool program(void *user, uint32_t offset, const uint8_t *data) {
  const pl_flash_rp2 *const flash = user;
  const uintptr_t place = flash->base - FLASH_BASE + offset;
  uint8_t page[PAGE_BYTES];
  memset(page, 0xff, sizeof page);
  memcpy(page + place % PAGE_BYTES, data, UNIT_BYTES);
  pl_rom_calls calls = {
      .arguments = {place - place % PAGE_BYTES, (uintptr_t)page, PAGE_BYTES},
      .change = find('R', 'P'),
  };
  return call(&calls);
}

pl_flash pl_flash_rp2_driver(const pl_flash_rp2 *flash) {
  return (pl_flash){
      .memory = (const uint8_t *)flash->base,
      .bytes = pl_flash_of_sectors(flash->base, flash->bytes, SECTOR_BYTES),
      .sector_bytes = SECTOR_BYTES,
      .write_bytes = UNIT_BYTES,
      .erase = erase,
      .program = program,
      .user = (void *)(uintptr_t)flash,
  };
}
