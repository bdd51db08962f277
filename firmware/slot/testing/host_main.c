// SPDX-License-Identifier: Apache-2.0
//
// Tests of packages and slots on the host, under sanitizers; test_slot.py makes the packages.
//
//   load KEY PACKAGE          checks, loads, self-test: the status
//   sha FILE COUNT            SHA-512 of its first COUNT bytes, in parts
//   flips KEY PACKAGE         one bit of bytes flipped, and each length: all refused
//   hostile PACKAGE COUNT [SEED]  random packages treated as signed: nothing leads
//                             outside
//   cuts KEY OLD NEW SEEDS    an update with power cut in each operation of the flash
//   slots KEY STEP...        steps on slots in RAM, a line each; see command_slots
//   unreadable KEY OLD NEW SEEDS  the same, if units torn by a power loss are unreadable
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/slot/flash_ram.h"
#include "firmware/slot/package.h"
#include "firmware/slot/self_test.h"
#include "firmware/slot/sha512.h"
#include "firmware/slot/slot.h"
#include "host_kernels.h"

enum { MEMORY = MEMORY_BYTES, SECTOR = 1024, WRITE = 16 };

static const pl_slot_model model = HOST_KERNELS_MODEL_SAMPLE;

typedef struct {
  uint8_t *data;
  uint32_t bytes;
} file;

static void fail(const char *text) {
  printf("FAIL %s\n", text);
  exit(1);
}

// Kept until the program ends.
static uint8_t *volatile files[8];
static int file_count;

static file read_file(const char *path) {
  FILE *const from = fopen(path, "rb");
  if (from == NULL) fail(path);
  fseek(from, 0, SEEK_END);
  const long bytes = ftell(from);
  rewind(from);
  file read = {malloc((size_t)bytes), (uint32_t)bytes};
  if (fread(read.data, 1, (size_t)bytes, from) != (size_t)bytes) fail(path);
  fclose(from);
  if (file_count == sizeof files / sizeof files[0]) fail("too many files");
  files[file_count++] = read.data;
  return read;
}

static void read_key(const char *text, uint8_t key[32]) {
  for (int i = 0; i < 32; ++i) {
    unsigned byte = 0;
    if (sscanf(text + 2 * i, "%2x", &byte) != 1) fail("key");
    key[i] = (uint8_t)byte;
  }
}

// Loads in memory of the exact size, so an access outside of it is found. Writes to the tables
// during a run are found too.
static pl_slot_status load(const uint8_t *package, uint32_t bytes) {
  const pl_package_header *const header = (const void *)package;
  const uint32_t needs = pl_package_memory(header);
  const uint32_t memory_bytes = needs < MEMORY ? needs : MEMORY;
  uint8_t *const memory = malloc(memory_bytes);  // aligned to 16, as all are
  const pl_plan *plan = NULL;
  volatile uint32_t busy = 0;
  pl_slot_status status =
      pl_package_load(package, bytes, &host_kernels, memory, memory_bytes, &busy, &plan);
  if (status == PL_SLOT_OK) {
    uint8_t *const tables = malloc(header->tables.count);
    memcpy(tables, memory, header->tables.count);
    if (!pl_package_self_test(package, plan)) status = PL_SLOT_SELF_TEST;
    if (memcmp(tables, memory, header->tables.count) != 0) fail("the tables were written to");
    free(tables);
  }
  free(memory);
  return status;
}

static void command_load(const uint8_t *key, file package) {
  pl_slot_status status =
      pl_package_check(package.data, package.bytes, key, &host_kernels, &model, MEMORY);
  if (status == PL_SLOT_OK) status = load(package.data, package.bytes);
  printf("%d %s\n", (int)status, pl_slot_status_text(status));
}

static void command_sha(file data, uint32_t bytes) {
  pl_sha512 sha;
  uint8_t digest[64];
  pl_sha512_begin(&sha);
  for (uint32_t at = 0, piece = 1; at < bytes; at += piece, ++piece) {
    if (piece > bytes - at) piece = bytes - at;
    pl_sha512_add(&sha, data.data + at, piece);
  }
  pl_sha512_end(&sha, digest);
  for (int i = 0; i < 64; ++i) printf("%02x", digest[i]);
  printf("\n");
}

static void command_flips(const uint8_t *key, file package) {
  uint32_t counts[PL_SLOT_REJECTED + 1] = {0};
  // Only every third byte of the contents, covered by one hash.
  for (uint32_t i = 0; i < package.bytes; i += i < 1024 ? 1 : 3) {
    const uint8_t bit = (uint8_t)(1u << (i * 7 + i / 8) % 8);
    package.data[i] ^= bit;
    ++counts[pl_package_check(package.data, package.bytes, key, &host_kernels, &model, MEMORY)];
    package.data[i] ^= bit;
  }
  for (uint32_t bytes = 0; bytes < package.bytes; bytes += bytes < 300 ? 1 : 97) {
    uint8_t *const part = aligned_alloc(16, (bytes + 16u) & ~15u);
    memcpy(part, package.data, bytes);
    if (pl_package_check(part, bytes, key, &host_kernels, &model, MEMORY) != PL_SLOT_TRUNCATED) {
      fail("a part was taken for the whole");
    }
    free(part);
  }
  printf("bytes %u accepted %u\n", package.bytes, counts[PL_SLOT_OK]);
}

static uint32_t seed = 1;

static uint32_t random_below(uint32_t end) {
  seed = seed * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)(seed >> 4) * end >> 28);
}

// A value an attacker might try.
static uint32_t tried(uint32_t old) {
  static const uint32_t values[] = {0, 1, 2, 3, 4, 16, 255, 65535, 0x7fffffff, 0x80000000, ~0u};
  switch (random_below(4)) {
    case 0:
      return values[random_below(sizeof values / sizeof values[0])];
    case 1:
      return old ^ 1u << random_below(32);
    case 2:
      return old + random_below(64) - 32;
    default:
      return old * 2;
  }
}

static void command_hostile(file package, uint32_t count, uint32_t first_seed) {
  seed = first_seed;
  uint32_t counts[PL_SLOT_REJECTED + 1] = {0};
  const pl_package_header *const header = (const void *)package.data;
  // Half of the time in the part with addresses; sizes of calls are among the constants.
  const uint32_t structure = header->constants.offset;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t *const copy = malloc(package.bytes);
    memcpy(copy, package.data, package.bytes);
    for (uint32_t changes = 1 + random_below(3); changes > 0; --changes) {
      const uint32_t end = random_below(2) == 0 ? header->vectors.offset : structure;
      const uint32_t at = random_below(end / 4) * 4;
      uint32_t word = 0;
      memcpy(&word, copy + at, 4);
      word = tried(word);
      memcpy(copy + at, &word, 4);
    }
    ++counts[load(copy, package.bytes)];
    free(copy);
  }
  printf("refused %u ran %u failed %u\n", count - counts[PL_SLOT_OK] - counts[PL_SLOT_SELF_TEST],
         counts[PL_SLOT_OK], counts[PL_SLOT_SELF_TEST]);
}

static _Alignas(16) uint8_t memory[MEMORY];
static _Alignas(16) uint8_t flash_memory[2 * SLOT_BYTES];

static pl_slot_config config_of(const uint8_t *key, pl_flash flash) {
  pl_slot_config config = {
      .flash = flash,
      .offset = {0, SLOT_BYTES},
      .bytes = SLOT_BYTES,
      .kernels = &host_kernels,
      .model = model,
      .memory = memory,
      .memory_bytes = MEMORY,
  };
  memcpy(config.public_key, key, 32);
  return config;
}

// Begins or goes on with an update; ends at the first error, as without power.
static pl_slot_status update(pl_slot *slot, file package, uint32_t *written) {
  uint32_t offset = 0;
  pl_slot_status status =
      pl_slot_begin(slot, (const pl_package_header *)(const void *)package.data, &offset);
  while (status == PL_SLOT_OK && offset < package.bytes) {
    const uint32_t left = package.bytes - offset;
    const uint32_t count = left < 64 ? left : 64;
    status = pl_slot_write(slot, package.data + offset, count);
    offset += count;
    *written += count;
  }
  return status == PL_SLOT_OK ? pl_slot_finish(slot) : status;
}

// A flash in RAM whose torn units must not be read: the sanitizer stops any such read.
static pl_flash in_ram;

static void tear(const pl_flash_ram *ram, uint32_t offset, uint32_t bytes) {
  if (ram->operations == ram->cut) __asan_poison_memory_region(ram->memory + offset, bytes);
}

static bool erase(void *user, uint32_t offset) {
  __asan_unpoison_memory_region(flash_memory + offset, SECTOR);
  const bool is_done = in_ram.erase(user, offset);
  tear(user, offset, SECTOR);
  return is_done;
}

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  const bool is_done = in_ram.program(user, offset, data);
  tear(user, offset, WRITE);
  return is_done;
}

static bool can_read(void *user, uint32_t offset, uint32_t bytes) {
  (void)user;
  return __asan_region_is_poisoned(flash_memory + offset, bytes) == NULL;
}

static pl_flash unreadable(pl_flash flash) {
  in_ram = flash;
  flash.erase = erase;
  flash.program = program;
  flash.can_read = can_read;
  return flash;
}

static void command_cuts(const uint8_t *key, file old, file new, uint32_t seeds, bool is_read) {
  const uint32_t new_version = ((const pl_package_header *)(const void *)new.data)->version;
  uint8_t before[sizeof flash_memory];
  pl_flash_ram ram = {flash_memory, SECTOR, WRITE, 0, 0, 0, 0};
  const pl_flash flash = pl_flash_ram_open(&ram, sizeof flash_memory);
  pl_slot_config config = config_of(key, is_read ? flash : unreadable(flash));
  pl_slot slot;
  uint32_t written = 0;
  // Earlier content of the other slot: not erased.
  memset(flash_memory + SLOT_BYTES, 0x3c, SLOT_BYTES / 2);
  if (pl_slot_open(&slot, &config) != PL_SLOT_EMPTY) fail("an empty flash has a model");
  if (update(&slot, old, &written) != PL_SLOT_OK) fail("the first model");
  if (pl_slot_open(&slot, &config) != PL_SLOT_OK) fail("the first model does not run");
  const uint32_t old_version = slot.version;
  memcpy(before, flash_memory, sizeof before);

  // Operations of an update and of the start after it.
  ram.operations = 0;
  if (update(&slot, new, &written) != PL_SLOT_OK) fail("the update");
  if (pl_slot_open(&slot, &config) != PL_SLOT_OK) fail("the update does not run");
  if (slot.version != new_version) fail("the update is not the newest");
  const uint32_t operations = ram.operations;
  uint32_t ran_old = 0;
  uint32_t ran_new = 0;
  uint32_t resumed = 0;
  for (uint32_t s = 0; s < seeds; ++s) {
    for (uint32_t cut = 1; cut <= operations; ++cut) {
      __asan_unpoison_memory_region(flash_memory, sizeof flash_memory);
      memcpy(flash_memory, before, sizeof before);
      ram = (pl_flash_ram){flash_memory, SECTOR, WRITE, 0, cut, cut * 977 + s, 0};
      written = 0;
      if (pl_slot_open(&slot, &config) != PL_SLOT_OK) fail("before the cut");
      if (update(&slot, new, &written) == PL_SLOT_OK) (void)pl_slot_open(&slot, &config);
      // Power is back.
      ram.cut = 0;
      if (pl_slot_open(&slot, &config) != PL_SLOT_OK) fail("no model runs after a cut");
      if (slot.version != old_version && slot.version != new_version) fail("which model?");
      ran_old += slot.version == old_version ? 1 : 0;
      ran_new += slot.version == new_version ? 1 : 0;
      if (slot.version == old_version) {
        uint32_t again = 0;
        if (update(&slot, new, &again) != PL_SLOT_OK) fail("the update does not go on");
        resumed += again < new.bytes ? 1 : 0;
        if (pl_slot_open(&slot, &config) != PL_SLOT_OK) fail("no model runs after going on");
        if (slot.version != new_version) fail("the update was lost");
      }
      if (ram.misuses != 0) fail("something was written that was not erased");
    }
  }
  printf("operations %u old %u new %u resumed %u\n", operations, ran_old, ran_new, resumed);
}

// Sets a field of the configuration to a number, or moves a pointer by it.
static void set_field(pl_slot_config *config, const char *field) {
  const struct {
    const char *name;
    uint32_t *field;
  } fields[] = {
      {"sector=", &config->flash.sector_bytes}, {"write=", &config->flash.write_bytes},
      {"flash_bytes=", &config->flash.bytes},   {"bytes=", &config->bytes},
      {"first=", &config->offset[0]},           {"second=", &config->offset[1]},
  };
  const char *const end = strchr(field, '=');
  if (end == NULL) fail(field);
  const uint32_t value = (uint32_t)atoi(end + 1);
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
    if (strncmp(field, fields[i].name, strlen(fields[i].name)) == 0) {
      *fields[i].field = value;
      return;
    }
  }
  if (strncmp(field, "memory=", 7) == 0) {
    config->memory += value;
  } else if (strncmp(field, "flash=", 6) == 0) {
    config->flash.memory += value;
  } else if (strcmp(field, "name=0") == 0) {
    config->model.name = NULL;
  } else {
    fail(field);
  }
}

// One step on the slots: open, check, update=FILE, begin=FILE, write=FILE, finish,
// damage=OFFSET=BITS, hide=OFFSET (becomes unreadable), set=FIELD=NUMBER, or fail=COUNT. With fail,
// the flash does nothing from that operation on; 0: it works.
static pl_slot_status step_on(pl_slot *slot, pl_slot_config *config, const char *step) {
  const char *const value = strchr(step, '=') == NULL ? NULL : strchr(step, '=') + 1;
  if (strcmp(step, "open") == 0) return pl_slot_open(slot, config);
  if (strcmp(step, "check") == 0) return pl_slot_check(slot);
  if (strcmp(step, "finish") == 0) return pl_slot_finish(slot);
  if (value == NULL) fail(step);
  if (strncmp(step, "damage", 6) == 0) {
    flash_memory[atoi(value)] ^= (uint8_t)atoi(strchr(value, '=') + 1);
    return PL_SLOT_OK;
  }
  if (strncmp(step, "hide", 4) == 0) {
    __asan_poison_memory_region(flash_memory + atoi(value), WRITE);
    return PL_SLOT_OK;
  }
  if (strncmp(step, "fail", 4) == 0) {
    pl_flash_ram *const ram = in_ram.user;
    ram->operations = 0;
    ram->cut = (uint32_t)atoi(value);
    return PL_SLOT_OK;
  }
  if (strncmp(step, "set", 3) == 0) {
    set_field(config, value);
    return PL_SLOT_OK;
  }
  const file package = read_file(value);
  uint32_t offset = 0;
  if (strncmp(step, "update", 6) == 0) return update(slot, package, &offset);
  if (strncmp(step, "write", 5) == 0) {
    return pl_slot_write(slot, package.data + slot->at, package.bytes - slot->at);
  }
  return pl_slot_begin(slot, (const pl_package_header *)(const void *)package.data, &offset);
}

static void command_slots(const uint8_t *key, char **steps, int count) {
  pl_flash_ram ram = {flash_memory, SECTOR, WRITE, 0, 0, 0, 0};
  const pl_flash flash = unreadable(pl_flash_ram_open(&ram, sizeof flash_memory));
  pl_slot_config config = config_of(key, flash);
  pl_slot slot;
  (void)pl_slot_open(&slot, &config);
  for (int i = 0; i < count; ++i) {
    const pl_slot_status status = step_on(&slot, &config, steps[i]);
    printf("%s\n", pl_slot_status_text(status));
    if (strcmp(steps[i], "open") != 0) continue;
    printf("%#x: %s, %s\n", slot.version, pl_slot_status_text(slot.found[0]),
           pl_slot_status_text(slot.found[1]));
  }
}

int main(int argc, char **argv) {
  uint8_t key[32];
  if (argc < 4) fail("arguments");
  if (strcmp(argv[1], "hostile") == 0) {
    command_hostile(read_file(argv[2]), (uint32_t)atoi(argv[3]),
                    argc == 5 ? (uint32_t)atoi(argv[4]) : 1);
    return 0;
  }
  if (strcmp(argv[1], "sha") == 0) {
    command_sha(read_file(argv[2]), (uint32_t)atoi(argv[3]));
    return 0;
  }
  read_key(argv[2], key);
  if (strcmp(argv[1], "load") == 0) command_load(key, read_file(argv[3]));
  if (strcmp(argv[1], "flips") == 0) command_flips(key, read_file(argv[3]));
  if (strcmp(argv[1], "slots") == 0) {
    command_slots(key, argv + 3, argc - 3);
    return 0;
  }
  if (argc == 6) {
    const bool is_read = strcmp(argv[1], "cuts") == 0;
    command_cuts(key, read_file(argv[3]), read_file(argv[4]), (uint32_t)atoi(argv[5]), is_read);
  }
  return 0;
}
