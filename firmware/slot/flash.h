// SPDX-License-Identifier: Apache-2.0
//
// The flash that slots are in, as a driver has it. It is memory: it is read, and models' weights
// are used, where it is mapped.
#ifndef FIRMWARE_SLOT_FLASH_H_
#define FIRMWARE_SLOT_FLASH_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PL_FLASH_MAX_WRITE_BYTES 32u

// Offsets count from `memory`. Those that change it wait until they are done, and say whether they
// worked; what the flash holds then is read, and compared, by the caller.
typedef struct {
  const uint8_t *memory;  // aligned to 16
  uint32_t bytes;
  uint32_t sector_bytes;  // what is erased at once
  uint32_t write_bytes;   // what is written at once: a divisor of a sector, 32 at most
  // Makes a sector 0xff, which begins at `offset`.
  bool (*erase)(void *user, uint32_t offset);
  // Writes one unit of write_bytes, erased before, which begins at `offset`.
  bool (*program)(void *user, uint32_t offset, const uint8_t *data);
  // Whether all of this can be read; null where reading never fails. Where it can, as of units that
  // power was lost in, nothing is read that this was not asked of.
  bool (*can_read)(void *user, uint32_t offset, uint32_t bytes);
  void *user;
} pl_flash;

// Of `bytes` from `base` on, what a driver gives as its own: nothing unless it begins with a
// sector. What is erased would begin before it, where the program may be.
uint32_t pl_flash_of_sectors(uintptr_t base, uint32_t bytes, uint32_t sector_bytes);

bool pl_flash_can_read(const pl_flash *flash, uint32_t offset, uint32_t bytes);

// Whether the flash can be read, and holds `data`; and whether it is erased.
bool pl_flash_has(const pl_flash *flash, uint32_t offset, const void *data, uint32_t bytes);
bool pl_flash_is_erased(const pl_flash *flash, uint32_t offset, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_H_
