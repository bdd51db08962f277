// SPDX-License-Identifier: Apache-2.0
//
// What STM32L4 and STM32U5 have in common: pages in two banks, and a code that corrects errors.
//
// A unit that power was lost in may read as an error of two bits, which is an NMI: the driver
// brings an NMI_Handler that lets such reads pass, in its own flash; elsewhere they end the program
// as a fault. Slots compare what they read. A program that has an NMI_Handler of its own, in the
// library that uses the driver, calls pl_flash_stm32_pass() in it.
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
  uintptr_t base;  // a multiple of a page, behind the program
  uint32_t bytes;
  uint32_t bank_bytes;  // of a bank; all that there is if there is one
} pl_flash_stm32_pages;

// Of a family. ECCR notes a unit by its bank and its place there, or that it is the system's;
// notes are taken back by being written.
typedef struct {
  pl_flash_stm32 controller;
  uint32_t page_bytes;
  uint32_t write_bytes;
  uint32_t eccr;   // offset of the register
  uint32_t place;  // bits of it
  uint32_t bank;
  uint32_t system;
  void (*empty_cache)(void);  // of what the controller does not empty; NULL if there is none
} pl_flash_stm32_family;

// Both are used as long as the driver is, of which a program has one.
pl_flash pl_flash_stm32_pages_driver(const pl_flash_stm32_family *family,
                                     const pl_flash_stm32_pages *flash);

// Of an NMI: whether it is an error of two bits in the driver's flash. The note of it is taken back
// then, and what was read is wrong.
bool pl_flash_stm32_pass(void);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_STM32_PAGES_H_
