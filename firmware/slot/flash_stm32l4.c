// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32l4.h"

#include <stddef.h>
#include <string.h>

#include "boards/common/fault.h"
#include "firmware/slot/flash_stm32.h"

enum { PAGE_BYTES = 2048, FIRST_BASE = 0x08000000 };
enum { PROGRAM = 1 << 0, ERASE = 1 << 1, PAGE = 3, BANK = 1 << 11, START = 1 << 16 };
enum { CONTROLLER = 0x40022000, KEYR = 0x08, SR = 0x10, CR = 0x14, ECCR = 0x18 };
enum { SR_ERRORS = 0xc3fa };

static const pl_flash_stm32 controller = {CONTROLLER, KEYR, SR, CR, SR_ERRORS};

// Of ECCR, which notes a double word by its bank and its place there; notes are taken back by being
// written.
enum { ECCR_PLACE = (1 << 19) - 1, ECCR_BANK = 1 << 19, ECCR_SYSTEM = 1 << 20 };
static const uint32_t ECCR_ONE_BIT = 1u << 30;
static const uint32_t ECCR_TWO_BITS = 1u << 31;

// What reads may be torn in: the handler is told nothing.
static const pl_flash_stm32l4 *of_slots;

bool pl_flash_stm32l4_pass(void) {
  const uint32_t noted = *pl_flash_stm32_at(CONTROLLER + ECCR);
  if (of_slots == NULL || (noted & ECCR_TWO_BITS) == 0 || (noted & ECCR_SYSTEM) != 0) return false;
  const uint32_t bank = (noted & ECCR_BANK) != 0 ? of_slots->bank_bytes : 0;
  const uint32_t at = FIRST_BASE + bank + (noted & ECCR_PLACE);
  if (at - of_slots->base >= of_slots->bytes) return false;
  *pl_flash_stm32_at(CONTROLLER + ECCR) = noted & ~ECCR_ONE_BIT;
  return true;
}

void NMI_Handler(void);

// pl_fault finds everything as the core left it.
__attribute__((naked, weak)) void NMI_Handler(void) {
  __asm__ volatile(
      "push {r4, lr}\n\t"
      "bl pl_flash_stm32l4_pass\n\t"
      "pop {r4, lr}\n\t"
      "cmp r0, #0\n\t"
      "beq 1f\n\t"
      "bx lr\n"
      "1:\n\t"
      "b pl_fault");
}

static bool erase(void *user, uint32_t offset) {
  const pl_flash_stm32l4 *const flash = user;
  const uint32_t at = (uint32_t)(flash->base + offset - FIRST_BASE);
  const uint32_t bank = at < flash->bank_bytes ? 0 : BANK;
  const uint32_t control = ERASE | at % flash->bank_bytes / PAGE_BYTES << PAGE | bank;
  uint32_t begun;
  if (!pl_flash_stm32_begin(&controller, control, &begun)) return false;
  *pl_flash_stm32_at(CONTROLLER + CR) = control | START;
  return pl_flash_stm32_end(&controller, begun);
}

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  const pl_flash_stm32l4 *const flash = user;
  uint32_t words[2];
  memcpy(words, data, sizeof words);
  uint32_t begun;
  if (!pl_flash_stm32_begin(&controller, PROGRAM, &begun)) return false;
  pl_flash_stm32_store(flash->base + offset, words[0]);
  pl_flash_stm32_store(flash->base + offset + sizeof words[0], words[1]);
  return pl_flash_stm32_end(&controller, begun);
}

pl_flash pl_flash_stm32l4_driver(const pl_flash_stm32l4 *flash) {
  of_slots = flash;
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
