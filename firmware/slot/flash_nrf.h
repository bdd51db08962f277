// SPDX-License-Identifier: Apache-2.0
//
// Flash of Nordic's nRF51, nRF52 and the application core of nRF5340, by their controller, NVMC.
// The core waits while a page is erased (20 to 90 ms). Interrupts with handlers in flash wait too.
#ifndef FIRMWARE_SLOT_FLASH_NRF_H_
#define FIRMWARE_SLOT_FLASH_NRF_H_

#include "firmware/slot/flash.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uintptr_t nvmc;       // its registers: 0x4001e000, on nRF5340 0x50039000
  uint32_t page_bytes;  // 1024 on nRF51, 4096 on the others
  uintptr_t base;       // a multiple of a page, after the program
  uint32_t bytes;
} pl_flash_nrf;

// `flash` is used as long as the driver is.
pl_flash pl_flash_nrf_driver(const pl_flash_nrf *flash);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_NRF_H_
