// SPDX-License-Identifier: Apache-2.0
//
// What the controllers of STM32F4 and STM32L4 have in common: a lock, a busy bit, and a cache of
// data, which does not see what the controller does.
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
} pl_flash_stm32;

// Unlocks the controller, with no error noted, turns the cache off and writes CR. Returns what
// pl_flash_stm32_end() wants.
uint32_t pl_flash_stm32_begin(const pl_flash_stm32 *controller, uint32_t control);

// Waits, and returns whether there was no error.
bool pl_flash_stm32_end(const pl_flash_stm32 *controller, uint32_t begun);

static inline volatile uint32_t *pl_flash_stm32_at(uintptr_t address) {
  return (volatile uint32_t *)address;
}

#endif  // FIRMWARE_SLOT_FLASH_STM32_H_
