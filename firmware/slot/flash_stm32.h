// SPDX-License-Identifier: Apache-2.0
//
// What the controllers of STM32F4, STM32L4 and STM32U5 have in common: a lock, a busy bit, and, but
// for the last one, a cache of data, which does not see what the controller does.
#ifndef FIRMWARE_SLOT_FLASH_STM32_H_
#define FIRMWARE_SLOT_FLASH_STM32_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uintptr_t base;    // ACR is its first register
  uint32_t key;      // offset of KEYR
  uint32_t status;   // of SR
  uint32_t control;  // of CR
  uint32_t errors;   // bits of SR
  bool has_cache;    // by ACR
} pl_flash_stm32;

// Unlocks the controller, with no error noted, turns the cache off and writes CR. `begun` is what
// pl_flash_stm32_end() wants. Returns false, with nothing done, if the controller does not become
// ready.
bool pl_flash_stm32_begin(const pl_flash_stm32 *controller, uint32_t control, uint32_t *begun);

// Waits, and returns whether there was no error, and an end.
bool pl_flash_stm32_end(const pl_flash_stm32 *controller, uint32_t begun);

// Writes a word of the flash, before anything that follows: to the core that is memory, whose
// writes it may hold back while it reads registers, and change in their order.
static inline void pl_flash_stm32_store(uintptr_t address, uint32_t word) {
  *(volatile uint32_t *)address = word;
  __asm__ volatile("dsb" ::: "memory");
}

static inline volatile uint32_t *pl_flash_stm32_at(uintptr_t address) {
  return (volatile uint32_t *)address;
}

#endif  // FIRMWARE_SLOT_FLASH_STM32_H_
