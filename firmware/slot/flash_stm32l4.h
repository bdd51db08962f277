// SPDX-License-Identifier: Apache-2.0
//
// Flash of ST's STM32L4 with pages of 2 KB (L471 to L486, and those with one bank), by double
// words. The core waits while a page of its own bank is erased (25 ms), and so do interrupts.
//
// Each double word has a code that corrects errors. One that power was lost in may read as an error
// of two bits, which is an NMI: the driver brings an NMI_Handler that lets such reads pass, in its
// own flash; elsewhere they end the program as a fault. Slots compare what they read. A program
// that has an NMI_Handler of its own, in the library that uses the driver, calls
// pl_flash_stm32l4_pass() in it.
#ifndef FIRMWARE_SLOT_FLASH_STM32L4_H_
#define FIRMWARE_SLOT_FLASH_STM32L4_H_

#include <stdbool.h>

#include "firmware/slot/flash.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uintptr_t base;  // a multiple of 2 KB, behind the program
  uint32_t bytes;
  uint32_t bank_bytes;  // 512 KB on chips of 1 MB; all that there is if there is one bank
} pl_flash_stm32l4;

// `flash` is used as long as the driver is, of which a program has one.
pl_flash pl_flash_stm32l4_driver(const pl_flash_stm32l4 *flash);

// Of an NMI: whether it is an error of two bits in the driver's flash. The note of it is taken back
// then, and what was read is wrong.
bool pl_flash_stm32l4_pass(void);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_STM32L4_H_
