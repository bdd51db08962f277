// SPDX-License-Identifier: Apache-2.0
//
// Flash of ST's STM32U5 with pages of 8 KB, by quadruple words, without TrustZone, the delivery
// state. The core waits while a page of its own bank is erased (3 ms), and so do interrupts. Banks
// are a half of the chip's flash, of 2 or 4 MB. For interrupted writes see flash_stm32_pages.h.
#ifndef FIRMWARE_SLOT_FLASH_STM32U5_H_
#define FIRMWARE_SLOT_FLASH_STM32U5_H_

#include "firmware/slot/flash_stm32_pages.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef pl_flash_stm32_pages pl_flash_stm32u5;

// `flash` must stay valid as long as the driver. A program has only one driver.
pl_flash pl_flash_stm32u5_driver(const pl_flash_stm32u5 *flash);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_STM32U5_H_
