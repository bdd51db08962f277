// SPDX-License-Identifier: Apache-2.0
//
// A flash in RAM, for tests and for simulated boards, whose flash is not writable. It only clears
// bits, like NOR flash. It may lose power in any operation, and then leaves it half done.
#ifndef FIRMWARE_SLOT_FLASH_RAM_H_
#define FIRMWARE_SLOT_FLASH_RAM_H_

#include <stdint.h>

#include "firmware/slot/flash.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint8_t *memory;
  uint32_t sector_bytes;
  uint32_t write_bytes;
  uint32_t operations;  // so far
  uint32_t cut;         // the operation that loses power, from 1 on; 0: none
  uint32_t seed;        // of the completed part of that one
  uint32_t misuses;     // writes to unerased flash
} pl_flash_ram;

// A driver of erased memory of `bytes` bytes; sector and write size are `ram`'s.
pl_flash pl_flash_ram_open(pl_flash_ram *ram, uint32_t bytes);

// Returns only the driver: the memory's content stays.
pl_flash pl_flash_ram_driver(pl_flash_ram *ram, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_RAM_H_
