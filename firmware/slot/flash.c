// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash.h"

#include <stddef.h>
#include <string.h>

uint32_t pl_flash_of_sectors(uintptr_t base, uint32_t bytes, uint32_t sector_bytes) {
  return sector_bytes != 0 && base % sector_bytes == 0 ? bytes : 0;
}

bool pl_flash_can_read(const pl_flash *flash, uint32_t offset, uint32_t bytes) {
  return flash->can_read == NULL || flash->can_read(flash->user, offset, bytes);
}

bool pl_flash_has(const pl_flash *flash, uint32_t offset, const void *data, uint32_t bytes) {
  return pl_flash_can_read(flash, offset, bytes) &&
         memcmp(flash->memory + offset, data, bytes) == 0;
}

bool pl_flash_is_erased(const pl_flash *flash, uint32_t offset, uint32_t bytes) {
  if (!pl_flash_can_read(flash, offset, bytes)) return false;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (flash->memory[offset + i] != 0xff) return false;
  }
  return true;
}
