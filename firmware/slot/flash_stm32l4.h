// SPDX-License-Identifier: Apache-2.0
//
// Flash of ST's STM32L4 with pages of 2 KB (L471 to L486, and those with one bank), by double
// words. The core waits while a page of its own bank is erased (25 ms), and so do interrupts. Banks
// have 512 KB on chips of 1 MB. For interrupted writes see flash_stm32_pages.h.
#ifndef FIRMWARE_SLOT_FLASH_STM32L4_H_
#define FIRMWARE_SLOT_FLASH_STM32L4_H_

#include "firmware/slot/flash_stm32_pages.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef pl_flash_stm32_pages pl_flash_stm32l4;

// `flash` must stay valid as long as the driver. A program has only one driver.
pl_flash pl_flash_stm32l4_driver(const pl_flash_stm32l4 *flash);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_STM32L4_H_
