// SPDX-License-Identifier: Apache-2.0
//
// Common code for STM32L4 and STM32U5: pages in two banks, and an error-correcting code.
//
// A unit with an interrupted write may read as a two-bit error, which is an NMI. The driver's
// NMI_Handler ignores such errors in its own flash; elsewhere they end the program as a fault.
// Slots compare the data they read. If your program has its own NMI_Handler, in the library using
// the driver, call pl_flash_stm32_pass() in it.
#ifndef FIRMWARE_SLOT_FLASH_STM32_PAGES_H_
#define FIRMWARE_SLOT_FLASH_STM32_PAGES_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/slot/flash.h"
#include "firmware/slot/flash_stm32.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uintptr_t base;  // a multiple of a page, after the program
  uint32_t bytes;
  uint32_t bank_bytes;  // of a bank; all bytes if there is one
} pl_flash_stm32_pages;

// Description of a family. ECCR records a unit by its bank and its position there, or as the
// system's. Writing a record clears it.
typedef struct {
  pl_flash_stm32 controller;
  uint32_t page_bytes;
  uint32_t write_bytes;
  uint32_t eccr;   // offset of the register
  uint32_t place;  // bits of it
  uint32_t bank;
  uint32_t system;
  void (*empty_cache)(void);  // clears a cache the controller does not clear; NULL if there is none
} pl_flash_stm32_family;

// Both arguments must stay valid as long as the driver. A program has only one driver.
pl_flash pl_flash_stm32_pages_driver(const pl_flash_stm32_family *family,
                                     const pl_flash_stm32_pages *flash);

// Call it in an NMI: returns true for a two-bit error in the driver's flash. Its record is then
// cleared, and the read data are wrong.
bool pl_flash_stm32_pass(void);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_STM32_PAGES_H_
