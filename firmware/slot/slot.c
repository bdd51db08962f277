// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/slot.h"

#include <stddef.h>
#include <string.h>

#include "firmware/slot/marks.h"
#include "firmware/slot/self_test.h"

static const uint8_t *package_of(const pl_slot_config *config, uint32_t slot) {
  return config->flash.memory + config->offset[slot];
}

static const pl_package_header *header_of(const pl_slot_config *config, uint32_t slot) {
  return (const void *)package_of(config, slot);
}

// Bytes for a package.
static uint32_t room(const pl_slot_config *config) {
  return config->bytes - config->flash.sector_bytes;
}

static uint32_t marks_of(const pl_slot_config *config, uint32_t slot) {
  return config->offset[slot] + room(config);
}

static bool is_marked(const pl_slot_config *config, uint32_t slot, pl_mark mark) {
  return pl_mark_is_set(&config->flash, marks_of(config, slot), mark);
}

static bool set_mark(const pl_slot_config *config, uint32_t slot, pl_mark mark) {
  return pl_mark_set(&config->flash, marks_of(config, slot), mark);
}

static bool is_usable_config(const pl_slot_config *config) {
  const pl_flash *const flash = &config->flash;
  const uint32_t sector = flash->sector_bytes;
  if (flash->write_bytes == 0 || flash->write_bytes > PL_FLASH_MAX_WRITE_BYTES ||
      sector % flash->write_bytes != 0 || sector < PL_MARKS * PL_MARK_PLACES * flash->write_bytes ||
      config->bytes % sector != 0 || config->model.name == NULL || config->bytes < 2 * sector ||
      ((uintptr_t)config->memory | (uintptr_t)flash->memory) % PL_PACKAGE_ALIGNMENT != 0) {
    return false;
  }
  for (uint32_t i = 0; i < PL_SLOTS; ++i) {
    if (config->offset[i] % sector != 0 || config->offset[i] % PL_PACKAGE_ALIGNMENT != 0 ||
        config->bytes > flash->bytes || config->offset[i] > flash->bytes - config->bytes) {
      return false;
    }
  }
  const uint32_t a = config->offset[0];
  const uint32_t b = config->offset[1];
  return (a < b ? b - a : a - b) >= config->bytes;
}

static pl_slot_status check_package(const pl_slot_config *config, uint32_t slot) {
  if (!pl_flash_can_read(&config->flash, config->offset[slot], room(config))) {
    return PL_SLOT_CONTENTS;
  }
  return pl_package_check(package_of(config, slot), room(config), config->public_key,
                          config->kernels, &config->model, config->memory_bytes);
}

static pl_slot_status check(const pl_slot_config *config, uint32_t slot) {
  if (!is_marked(config, slot, PL_MARK_COMPLETE)) return PL_SLOT_EMPTY;
  if (is_marked(config, slot, PL_MARK_REJECTED)) return PL_SLOT_REJECTED;
  return check_package(config, slot);
}

// The newest valid package; PL_SLOTS if there is none.
static uint32_t newest(const pl_slot *slot) {
  uint32_t found = PL_SLOTS;
  for (uint32_t i = 0; i < PL_SLOTS; ++i) {
    if (slot->found[i] == PL_SLOT_OK &&
        (found == PL_SLOTS ||
         header_of(slot->config, i)->version > header_of(slot->config, found)->version)) {
      found = i;
    }
  }
  return found;
}

static pl_slot_status load(pl_slot *slot, uint32_t index) {
  const pl_slot_config *const config = slot->config;
  return pl_package_load(package_of(config, index), room(config), config->kernels, config->memory,
                         config->memory_bytes, &slot->busy, &slot->plan);
}

// Runs the self-test of an unconfirmed package. A program that does not return from it leaves a
// mark. A model that is not the only one has three trials.
static pl_slot_status try_out(pl_slot *slot, uint32_t index, bool is_only) {
  const pl_slot_config *const config = slot->config;
  const bool may_try = set_mark(config, index, PL_MARK_TRIED) || is_only;
  pl_slot_status status = may_try ? load(slot, index) : PL_SLOT_SELF_TEST;
  if (status == PL_SLOT_OK && !pl_package_self_test(package_of(config, index), slot->plan)) {
    status = PL_SLOT_SELF_TEST;
  }
  if (status == PL_SLOT_OK && !set_mark(config, index, PL_MARK_CONFIRMED) && !is_only) {
    return PL_SLOT_FLASH;  // tried again at the next start
  }
  if (status != PL_SLOT_OK && !set_mark(config, index, PL_MARK_REJECTED)) return PL_SLOT_FLASH;
  return status;
}

pl_slot_status pl_slot_open(pl_slot *slot, const pl_slot_config *config) {
  *slot = (pl_slot){.running = PL_SLOTS, .target = PL_SLOTS, .config = config};
  if (!is_usable_config(config)) return PL_SLOT_CONFIG;
  for (uint32_t i = 0; i < PL_SLOTS; ++i) slot->found[i] = check(config, i);
  for (uint32_t i = newest(slot); i != PL_SLOTS; i = newest(slot)) {
    const bool is_only = slot->found[1 - i] != PL_SLOT_OK;
    slot->found[i] =
        is_marked(config, i, PL_MARK_CONFIRMED) ? load(slot, i) : try_out(slot, i, is_only);
    if (slot->found[i] == PL_SLOT_OK) {
      slot->running = i;
      slot->version = header_of(config, i)->version;
      return PL_SLOT_OK;
    }
    slot->plan = NULL;
  }
  return PL_SLOT_EMPTY;
}

pl_slot_status pl_slot_check(const pl_slot *slot) {
  if (slot->running == PL_SLOTS) return PL_SLOT_EMPTY;
  const pl_slot_status status = check_package(slot->config, slot->running);
  if (status != PL_SLOT_OK) return status;
  const uint32_t version = header_of(slot->config, slot->running)->version;
  return version == slot->version ? PL_SLOT_OK : PL_SLOT_CONTENTS;
}

static bool erase_sector(const pl_flash *flash, uint32_t offset) {
  return flash->erase(flash->user, offset) &&
         pl_flash_is_erased(flash, offset, flash->sector_bytes);
}

// Erases from the end with the marks, so the rest is never mistaken for a package.
static bool erase_slot(const pl_slot_config *config, uint32_t slot) {
  const pl_flash *const flash = &config->flash;
  for (uint32_t at = config->bytes; at > 0;) {
    const bool is_of_marks = at == config->bytes;
    at -= flash->sector_bytes;
    const uint32_t offset = config->offset[slot] + at;
    if ((is_of_marks || !pl_flash_is_erased(flash, offset, flash->sector_bytes)) &&
        !erase_sector(flash, offset)) {
      return false;
    }
  }
  return true;
}

// The sector to continue with: the last one with written data, because a power loss may have
// interrupted it.
static bool resume(const pl_slot_config *config, uint32_t slot, uint32_t *offset) {
  const pl_flash *const flash = &config->flash;
  uint32_t at = room(config);
  do {
    at -= flash->sector_bytes;
  } while (at > 0 && pl_flash_is_erased(flash, config->offset[slot] + at, flash->sector_bytes));
  *offset = at;
  return erase_sector(flash, config->offset[slot] + at);
}

pl_slot_status pl_slot_begin(pl_slot *slot, const pl_package_header *header, uint32_t *offset) {
  const pl_slot_config *const config = slot->config;
  slot->target = PL_SLOTS;
  const pl_slot_status status =
      pl_package_check_header(header, config->public_key, config->kernels, &config->model);
  if (status != PL_SLOT_OK) return status;
  if (header->bytes < sizeof *header) return PL_SLOT_BOUNDS;
  if (header->bytes > room(config)) return PL_SLOT_TOO_LARGE;
  if (pl_package_memory(header) > config->memory_bytes) return PL_SLOT_MEMORY;
  if (slot->running != PL_SLOTS && header->version <= slot->version) return PL_SLOT_OLDER;
  const uint32_t target = slot->running == 0 ? 1 : 0;
  const bool is_begun =
      pl_flash_has(&config->flash, config->offset[target], header, sizeof *header) &&
      pl_flash_is_erased(&config->flash, marks_of(config, target), config->flash.sector_bytes);
  *offset = 0;
  if (!(is_begun ? resume(config, target, offset) : erase_slot(config, target))) {
    return PL_SLOT_FLASH;
  }
  slot->target = target;
  slot->at = *offset;
  slot->end = header->bytes;
  return PL_SLOT_OK;
}

// Writes a unit, padded with the value of erased flash.
static bool write_unit(const pl_flash *flash, uint32_t offset, const uint8_t *data,
                       uint32_t bytes) {
  uint8_t unit[PL_FLASH_MAX_WRITE_BYTES];
  memset(unit, 0xff, sizeof unit);
  memcpy(unit, data, bytes);
  return flash->program(flash->user, offset, unit) &&
         pl_flash_has(flash, offset, unit, flash->write_bytes);
}

pl_slot_status pl_slot_write(pl_slot *slot, const uint8_t *data, uint32_t bytes) {
  if (slot->target == PL_SLOTS || bytes > slot->end - slot->at) return PL_SLOT_ORDER;
  const pl_flash *const flash = &slot->config->flash;
  const uint32_t unit = flash->write_bytes;
  if (bytes % unit != 0 && bytes != slot->end - slot->at) return PL_SLOT_ORDER;
  for (uint32_t done = 0; done < bytes; done += unit) {
    const uint32_t count = bytes - done < unit ? bytes - done : unit;
    const uint32_t offset = slot->config->offset[slot->target] + slot->at;
    if (!write_unit(flash, offset, data + done, count)) {
      slot->target = PL_SLOTS;
      return PL_SLOT_FLASH;
    }
    slot->at += count;
  }
  return PL_SLOT_OK;
}

pl_slot_status pl_slot_finish(pl_slot *slot) {
  const pl_slot_config *const config = slot->config;
  const uint32_t target = slot->target;
  if (target == PL_SLOTS) return PL_SLOT_ORDER;
  if (slot->at != slot->end) return PL_SLOT_TRUNCATED;
  slot->target = PL_SLOTS;
  pl_slot_status status = check_package(config, target);
  if (status == PL_SLOT_OK && slot->running != PL_SLOTS &&
      header_of(config, target)->version <= slot->version) {
    status = PL_SLOT_OLDER;
  }
  if (status != PL_SLOT_OK) {
    // Prevents a resume after this.
    return erase_sector(&config->flash, config->offset[target]) ? status : PL_SLOT_FLASH;
  }
  return set_mark(config, target, PL_MARK_COMPLETE) ? PL_SLOT_OK : PL_SLOT_FLASH;
}
