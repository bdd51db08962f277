// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32_pages.h"

#include <stddef.h>
#include <string.h>

#include "boards/common/fault.h"

enum { FIRST_BASE = 0x08000000 };
enum { PROGRAM = 1 << 0, ERASE = 1 << 1, PAGE = 3, BANK = 1 << 11, START = 1 << 16 };

static const uint32_t ECCR_ONE_BIT = 1u << 30;
static const uint32_t ECCR_TWO_BITS = 1u << 31;

// Context for torn reads, because the handler has no arguments.
static const pl_flash_stm32_family *of_family;
static const pl_flash_stm32_pages *of_slots;

bool pl_flash_stm32_pass(void) {
  if (of_slots == NULL) return false;
  volatile uint32_t *const eccr = pl_flash_stm32_at(of_family->controller.base + of_family->eccr);
  const uint32_t noted = *eccr;
  if ((noted & ECCR_TWO_BITS) == 0 || (noted & of_family->system) != 0) return false;
  const uint32_t bank = (noted & of_family->bank) != 0 ? of_slots->bank_bytes : 0;
  const uint32_t at = FIRST_BASE + bank + (noted & of_family->place);
  if (at - of_slots->base >= of_slots->bytes) return false;
  *eccr = noted & ~ECCR_ONE_BIT;
  return true;
}

void NMI_Handler(void);

// pl_fault finds everything as the core left it.
__attribute__((naked, weak)) void NMI_Handler(void) {
  __asm__ volatile(
      "push {r4, lr}\n\t"
      "bl pl_flash_stm32_pass\n\t"
      "pop {r4, lr}\n\t"
      "cmp r0, #0\n\t"
      "beq 1f\n\t"
      "bx lr\n"
      "1:\n\t"
      "b pl_fault");
}

static bool end(uint32_t begun) {
  const bool is_done = pl_flash_stm32_end(&of_family->controller, begun);
  if (of_family->empty_cache != NULL) of_family->empty_cache();
  return is_done;
}

static bool erase(void *user, uint32_t offset) {
  const pl_flash_stm32_pages *const flash = user;
  const pl_flash_stm32 *const controller = &of_family->controller;
  const uint32_t at = (uint32_t)(flash->base + offset - FIRST_BASE);
  const uint32_t bank = at < flash->bank_bytes ? 0 : BANK;
  const uint32_t page = at % flash->bank_bytes / of_family->page_bytes;
  const uint32_t control = ERASE | page << PAGE | bank;
  uint32_t begun;
  if (!pl_flash_stm32_begin(controller, control, &begun)) return false;
  *pl_flash_stm32_at(controller->base + controller->control) = control | START;
  return end(begun);
}

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  const pl_flash_stm32_pages *const flash = user;
  uint32_t begun;
  if (!pl_flash_stm32_begin(&of_family->controller, PROGRAM, &begun)) return false;
  for (uint32_t at = 0; at < of_family->write_bytes; at += sizeof(uint32_t)) {
    uint32_t word = 0;
    memcpy(&word, data + at, sizeof word);
    pl_flash_stm32_store(flash->base + offset + at, word);
  }
  return end(begun);
}

pl_flash pl_flash_stm32_pages_driver(const pl_flash_stm32_family *family,
                                     const pl_flash_stm32_pages *flash) {
  of_family = family;
  of_slots = flash;
  return (pl_flash){
      .memory = (const uint8_t *)flash->base,
      .bytes = pl_flash_of_sectors(flash->base, flash->bytes, family->page_bytes),
      .sector_bytes = family->page_bytes,
      .write_bytes = family->write_bytes,
      .erase = erase,
      .program = program,
      .user = (void *)(uintptr_t)flash,
  };
}
