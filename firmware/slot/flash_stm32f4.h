// SPDX-License-Identifier: Apache-2.0
//
// Flash of ST's STM32F4 with one bank (F401 to F417, F446), from its sectors of 128 KB, by words:
// the chip's supply must be at least 2.7 V. Two slots are four sectors; chips of 1 MB have them.
// The core waits while a sector is erased (1 to 2 s). Interrupts with handlers in flash wait too.
#ifndef FIRMWARE_SLOT_FLASH_STM32F4_H_
#define FIRMWARE_SLOT_FLASH_STM32F4_H_

#include "firmware/slot/flash.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uintptr_t base;  // a multiple of 128 KB after the program, from 0x08020000 on
  uint32_t bytes;
} pl_flash_stm32f4;

// `flash` is used as long as the driver is.
pl_flash pl_flash_stm32f4_driver(const pl_flash_stm32f4 *flash);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_STM32F4_H_
