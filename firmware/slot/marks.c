// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/marks.h"

static uint32_t place_of(const pl_flash *flash, uint32_t sector, pl_mark mark, uint32_t place) {
  return sector + ((uint32_t)mark * PL_MARK_PLACES + place) * flash->write_bytes;
}

// Content of a mark: half of its bits are cleared, a different half for each mark.
static void pattern(pl_mark mark, uint8_t unit[PL_FLASH_MAX_WRITE_BYTES]) {
  for (uint32_t i = 0; i < PL_FLASH_MAX_WRITE_BYTES; ++i) {
    unit[i] = (uint8_t)(i & 1 ? 0x5a : 0x96 + (uint32_t)mark * 0x11);
  }
}

bool pl_mark_is_set(const pl_flash *flash, uint32_t sector, pl_mark mark) {
  uint8_t unit[PL_FLASH_MAX_WRITE_BYTES];
  pattern(mark, unit);
  for (uint32_t place = 0; place < PL_MARK_PLACES; ++place) {
    const uint32_t at = place_of(flash, sector, mark, place);
    if (pl_flash_has(flash, at, unit, flash->write_bytes)) return true;
  }
  return false;
}

uint32_t pl_mark_places(const pl_flash *flash, uint32_t sector, pl_mark mark) {
  uint32_t places = 0;
  while (places < PL_MARK_PLACES &&
         !pl_flash_is_erased(flash, place_of(flash, sector, mark, places), flash->write_bytes)) {
    ++places;
  }
  return places;
}

bool pl_mark_set(const pl_flash *flash, uint32_t sector, pl_mark mark) {
  const uint32_t places = pl_mark_places(flash, sector, mark);
  if (places == PL_MARK_PLACES) return false;
  uint8_t unit[PL_FLASH_MAX_WRITE_BYTES];
  pattern(mark, unit);
  return flash->program(flash->user, place_of(flash, sector, mark, places), unit) &&
         pl_mark_is_set(flash, sector, mark);
}
