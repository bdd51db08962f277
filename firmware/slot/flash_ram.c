// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_ram.h"

#include <string.h>

static uint8_t next_random(pl_flash_ram *ram) {
  ram->seed = ram->seed * 1664525u + 1013904223u;
  return (uint8_t)(ram->seed >> 24);
}

// Counts an operation; without power nothing is done any more.
static bool has_power(pl_flash_ram *ram) {
  ++ram->operations;
  return ram->cut == 0 || ram->operations < ram->cut;
}

static bool is_torn(const pl_flash_ram *ram) { return ram->operations == ram->cut; }

static bool erase(void *user, uint32_t offset) {
  pl_flash_ram *const ram = user;
  const bool powered = has_power(ram);
  for (uint32_t i = 0; i < ram->sector_bytes; ++i) {
    // Erasing sets bits, some of them earlier than others.
    const uint8_t set = powered ? 0xff : is_torn(ram) ? next_random(ram) : 0;
    ram->memory[offset + i] |= set;
  }
  return powered;
}

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  pl_flash_ram *const ram = user;
  const bool powered = has_power(ram);
  for (uint32_t i = 0; i < ram->write_bytes; ++i) {
    ram->misuses += ram->memory[offset + i] != 0xff ? 1 : 0;
    const uint8_t cleared = powered ? 0xff : is_torn(ram) ? next_random(ram) : 0;
    ram->memory[offset + i] &= (uint8_t)(data[i] | (uint8_t)~cleared);
  }
  return powered;
}

pl_flash pl_flash_ram_driver(pl_flash_ram *ram, uint32_t bytes) {
  return (pl_flash){
      .memory = ram->memory,
      .bytes = bytes,
      .sector_bytes = ram->sector_bytes,
      .write_bytes = ram->write_bytes,
      .erase = erase,
      .program = program,
      .user = ram,
  };
}

pl_flash pl_flash_ram_open(pl_flash_ram *ram, uint32_t bytes) {
  memset(ram->memory, 0xff, bytes);
  return pl_flash_ram_driver(ram, bytes);
}
