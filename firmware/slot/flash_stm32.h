// SPDX-License-Identifier: Apache-2.0
//
// Common code for the controllers of STM32F4, STM32L4 and STM32U5: a lock, a busy bit, and, except
// for the last one, a data cache. The cache does not see the controller's changes.
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

// Unlocks the controller, clears its errors, turns the cache off and writes CR. `begun` is the
// argument for pl_flash_stm32_end(). Returns false, with nothing done, if the controller does not
// become ready.
bool pl_flash_stm32_begin(const pl_flash_stm32 *controller, uint32_t control, uint32_t *begun);

// Waits, and returns true if there was an end and no error.
bool pl_flash_stm32_end(const pl_flash_stm32 *controller, uint32_t begun);

// Writes a word of the flash, before any later access. For the core, flash is memory: it may delay
// and reorder such writes while it reads registers.
static inline void pl_flash_stm32_store(uintptr_t address, uint32_t word) {
  *(volatile uint32_t *)address = word;
  __asm__ volatile("dsb" ::: "memory");
}

static inline volatile uint32_t *pl_flash_stm32_at(uintptr_t address) {
  return (volatile uint32_t *)address;
}

#endif  // FIRMWARE_SLOT_FLASH_STM32_H_
