// SPDX-License-Identifier: Apache-2.0
// A bounded run of the fuzz target without libFuzzer: mutates seeds, the same ones every time.
//
//   fuzz_main SEEDS RUNS [FIRST]
//
// SEEDS is a file of payloads, each with its uint32 size in front. RUNS is how many mutations to
// try, FIRST the number of the first one.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ethos_u/fuzz/fuzz_target.h"

enum { MAX_SEEDS = 512, MAX_EXTRA = 64 };

typedef struct {
  const uint8_t *data;
  uint32_t size;
} seed;

static seed seeds[MAX_SEEDS];
static uint32_t seed_count;
static uint64_t state;

// xorshift64*
static uint32_t next_random(uint32_t limit) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (uint32_t)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % limit;
}

static uint32_t read32(const uint8_t *data) {
  uint32_t value;
  memcpy(&value, data, sizeof(value));
  return value;
}

// Reads the seeds; they are never freed. Returns false if the file does not contain seeds.
static bool load(const char *path) {
  static uint8_t *data;
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return false;
  }
  (void)fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  (void)fseek(file, 0, SEEK_SET);
  data = malloc(size);
  const size_t loaded = data == NULL ? 0 : fread(data, 1, size, file);
  (void)fclose(file);
  size_t at = 0;
  while (at + 4 <= loaded) {
    const uint32_t bytes = read32(data + at);
    at += 4;
    if (seed_count == MAX_SEEDS || bytes > loaded - at) {
      return false;
    }
    seeds[seed_count++] = (seed){data + at, bytes};
    at += bytes;
  }
  return loaded == size && seed_count > 0;
}

// An offset inside the block of that name, or anywhere if it does not exist.
static uint32_t offset_in(const uint8_t *data, uint32_t size, const char *name) {
  uint32_t at = 0;
  while (at + 32 <= size) {
    const uint32_t bytes = read32(data + at + 16);
    if (strncmp((const char *)data + at, name, 16) == 0 && bytes > 0 && bytes <= size - at - 32) {
      return at + 32 + next_random(bytes);
    }
    const uint64_t next = (uint64_t)at + 32 + ((uint64_t)bytes + 15) / 16 * 16;
    if (next >= size) {
      break;
    }
    at = (uint32_t)next;
  }
  return next_random(size);
}

// One change: a bit, a byte, a command word or an interesting number, mostly in the commands.
static uint32_t mutate(uint8_t *data, uint32_t size) {
  static const uint32_t numbers[] = {0,      1,      0x7F,       0x80,       0xFF,      0x100,
                                     0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  static const char *const blocks[] = {"cmd_data", "cmd_data", "cmd_data", "weight_data", ""};
  const uint32_t at = offset_in(data, size, blocks[next_random(5)]);
  const uint32_t word = at / 4 * 4;
  uint32_t value;
  switch (next_random(7)) {
    case 0:
      data[at] = (uint8_t)(data[at] ^ 1u << next_random(8));
      break;
    case 1:
      data[at] = (uint8_t)next_random(256);
      break;
    case 2:
      return size > 64 ? 32 + next_random(size - 32) : size;
    case 3:
      if (word + 8 <= size) {
        memmove(data + word, data + word + 4, size - word - 4);
        return size - 4;
      }
      break;
    case 4:
      if (word + 4 <= size) {
        memmove(data + word + 4, data + word, size - word);
        return size + 4;
      }
      break;
    case 5:
      if (word + 4 <= size) {
        // The parameter of a command, or half an address.
        value = numbers[next_random(sizeof(numbers) / sizeof(numbers[0]))];
        memcpy(data + word + 2, &value, 2);
      }
      break;
    default:
      if (word + 4 <= size) {
        value = numbers[next_random(sizeof(numbers) / sizeof(numbers[0]))];
        memcpy(data + word, &value, 4);
      }
      break;
  }
  return size;
}

int main(int argc, char **argv) {
  if (argc < 3 || !load(argv[1])) {
    (void)fprintf(stderr, "usage: fuzz_main SEEDS RUNS [FIRST]\n");
    return 2;
  }
  const uint32_t runs = (uint32_t)strtoul(argv[2], NULL, 10);
  const uint32_t first = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
  for (uint32_t run = first; run < first + runs; ++run) {
    state = UINT64_C(0x9E3779B97F4A7C15) * (run + 1);
    const seed *chosen = &seeds[next_random(seed_count)];
    uint8_t *data = malloc((size_t)chosen->size + MAX_EXTRA);
    if (data == NULL) {
      return 2;
    }
    memcpy(data, chosen->data, chosen->size);
    uint32_t size = chosen->size;
    for (uint32_t changes = next_random(4); changes > 0 && size > 32; --changes) {
      size = mutate(data, size);
    }
    if (run % 1000 == 0) {
      (void)fprintf(stderr, "run %u\n", run);  // for readers of a sanitizer's report
    }
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
  }
  (void)printf("%u runs: %u parsed, %u inspected whole, %u executed whole\nPL:PASS\n", runs,
               fuzz_parsed, fuzz_inspected, fuzz_executed);
  return fuzz_executed > 0 ? 0 : 1;
}
