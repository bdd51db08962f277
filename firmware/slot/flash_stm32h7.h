// SPDX-License-Identifier: Apache-2.0
//
// Flash of ST's STM32H743, H753 and similar chips with sectors of 128 KB, by units of 32 bytes. A
// slot has at least two sectors. If they are not in the program's bank, the core continues while
// they are written. Otherwise it waits (up to 4 s for a sector), and so do interrupts.
//
// A read of a unit with an interrupted write may be a bus fault. The driver reports this
// (`can_read`). It first reads one word of each unit while faults are masked and the controller
// records them. Interrupts wait for that word.
#ifndef FIRMWARE_SLOT_FLASH_STM32H7_H_
#define FIRMWARE_SLOT_FLASH_STM32H7_H_

#include "firmware/slot/flash.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uintptr_t base;  // a multiple of a sector, after the program
  uint32_t bytes;
} pl_flash_stm32h7;

// `flash` is used as long as the driver is.
pl_flash pl_flash_stm32h7_driver(const pl_flash_stm32h7 *flash);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_STM32H7_H_
