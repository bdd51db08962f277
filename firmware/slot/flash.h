// SPDX-License-Identifier: Apache-2.0
//
// Driver interface of the flash for slots. The flash is memory-mapped: it is read, and models'
// weights are used, in place.
#ifndef FIRMWARE_SLOT_FLASH_H_
#define FIRMWARE_SLOT_FLASH_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PL_FLASH_MAX_WRITE_BYTES 32u

// Offsets count from `memory`. Functions that change the flash wait until they are done and return
// true on success. The caller then reads and compares the content.
typedef struct {
  const uint8_t *memory;  // aligned to 16
  uint32_t bytes;
  uint32_t sector_bytes;  // erase unit
  uint32_t write_bytes;   // write unit: a divisor of a sector, 32 at most
  // Erases the sector that begins at `offset` to 0xff.
  bool (*erase)(void *user, uint32_t offset);
  // Writes one unit of write_bytes, erased before, that begins at `offset`.
  bool (*program)(void *user, uint32_t offset, const uint8_t *data);
  // Returns true if all of this can be read; null if reading never fails. It can fail for units
  // with an interrupted write. The caller then checks every range before it reads it.
  bool (*can_read)(void *user, uint32_t offset, uint32_t bytes);
  void *user;
} pl_flash;

// Size of a driver's flash for `bytes` from `base` on: 0 unless it begins with a sector. Otherwise
// an erase would begin before it, where the program may be.
uint32_t pl_flash_of_sectors(uintptr_t base, uint32_t bytes, uint32_t sector_bytes);

bool pl_flash_can_read(const pl_flash *flash, uint32_t offset, uint32_t bytes);

// Returns true if the flash can be read and holds `data`; the second, if it is erased.
bool pl_flash_has(const pl_flash *flash, uint32_t offset, const void *data, uint32_t bytes);
bool pl_flash_is_erased(const pl_flash *flash, uint32_t offset, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_H_
