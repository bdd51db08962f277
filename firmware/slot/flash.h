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

// Offsets count from `memory`. Both functions wait until they are done, and say whether they
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
  void *user;
} pl_flash;

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_FLASH_H_
