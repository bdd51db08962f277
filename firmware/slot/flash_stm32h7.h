// SPDX-License-Identifier: Apache-2.0
//
// Flash of ST's STM32H743, H753 and their relatives with sectors of 128 KB, by units of 32 bytes. A
// slot has two sectors at least; if they are not in the bank of the program, the core works on
// while they are written, else it waits (up to 4 s for a sector), and so do interrupts.
//
// A unit that power was lost in may be a bus fault to who reads it. The driver says so
// (`can_read`): it reads first, one word of each unit, while faults are held back and the
// controller notes them. Interrupts wait for that word.
#ifndef FIRMWARE_SLOT_FLASH_STM32H7_H_
#define FIRMWARE_SLOT_FLASH_STM32H7_H_

#include "firmware/slot/flash.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uintptr_t base;  // a multiple of a sector, behind the program
  uint32_t bytes;
} pl_flash_stm32h7;

// `flash` is used as long as the driver is.
pl_flash pl_flash_stm32h7_driver(const pl_flash_stm32h7 *flash);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_STM32H7_H_
