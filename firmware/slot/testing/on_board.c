// SPDX-License-Identifier: Apache-2.0
//
// Models in slots on a board: a first one, an update, and refusals. Each is bit-exact with the same
// model built in.
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "boards/common/print.h"
#include "firmware/runtime/model.h"
#include "firmware/slot/flash_ram.h"
#include "firmware/slot/slot.h"
#include "firmware/slot/testing/built_in.h"
#include "firmware/slot/testing/digits_kernels.h"
#include "firmware/slot/testing/public_key.h"

enum { SLOT_BYTES = 20480, SECTOR = 512, WRITE = 8, MEMORY_BYTES = 8192, INPUTS = 20 };

extern const uint8_t first[];
extern const uint32_t first_bytes;
extern const uint8_t second[];
extern const uint32_t second_bytes;
extern const uint8_t broken[];
extern const uint32_t broken_bytes;

static _Alignas(16) uint8_t flash_memory[2 * SLOT_BYTES];
PL_SLOT_MEMORY(memory, MEMORY_BYTES);

static pl_flash_ram ram = {flash_memory, SECTOR, WRITE, 0, 0, 0, 0};
static pl_slot_config config = {
    .offset = {0, SLOT_BYTES},
    .bytes = SLOT_BYTES,
    .kernels = &digits_kernels,
    .model = DIGITS_KERNELS_MODEL_DIGITS,
    .public_key = PL_TEST_PUBLIC_KEY,
    .memory = memory,
    .memory_bytes = MEMORY_BYTES,
};
static pl_slot slot;

static pl_slot_status write_package(const uint8_t *package, uint32_t bytes) {
  uint32_t offset = 0;
  pl_slot_status status =
      pl_slot_begin(&slot, (const pl_package_header *)(const void *)package, &offset);
  if (status == PL_SLOT_OK) status = pl_slot_write(&slot, package + offset, bytes - offset);
  return status == PL_SLOT_OK ? pl_slot_finish(&slot) : status;
}

// A package larger than a slot leaves the existing content alone.
static void expect_too_large(void) {
  pl_slot_config small = config;
  small.bytes = 4096;
  EXPECT(second_bytes > small.bytes);
  EXPECT_EQUAL(pl_slot_open(&slot, &small), PL_SLOT_EMPTY);
  const uint32_t operations = ram.operations;
  EXPECT_EQUAL(write_package(second, second_bytes), PL_SLOT_TOO_LARGE);
  EXPECT_EQUAL(pl_slot_write(&slot, second, WRITE), PL_SLOT_ORDER);
  EXPECT_EQUAL(ram.operations, operations);
}

// Expects the results of the built-in model from the model in the slot.
static void expect_same(const pl_plan *plan) {
  pl_model built;
  pl_model loaded;
  uint32_t random = 1;
  EXPECT_EQUAL(pl_model_init(&built, &built_in), PL_OK);
  EXPECT_EQUAL(pl_model_init(&loaded, plan), PL_OK);
  const pl_tensor *const from = plan->inputs;
  const pl_tensor *const to = plan->outputs;
  EXPECT_EQUAL(from->spec.bytes, built_in.inputs->spec.bytes);
  EXPECT_EQUAL(to->spec.bytes, built_in.outputs->spec.bytes);
  for (int i = 0; i < INPUTS; ++i) {
    uint8_t *const input = from->data;
    for (uint32_t at = 0; at < from->spec.bytes; ++at) {
      random = random * 1664525u + 1013904223u;
      input[at] = (uint8_t)(random >> 24);
    }
    memcpy(built_in.inputs->data, input, from->spec.bytes);
    EXPECT_EQUAL(pl_model_run(&built, built_in.inputs, 1, built_in.outputs, 1), PL_OK);
    EXPECT_EQUAL(pl_model_run(&loaded, from, 1, to, 1), PL_OK);
    EXPECT(memcmp(to->data, built_in.outputs->data, to->spec.bytes) == 0);
  }
}

int main(void) {
  config.flash = pl_flash_ram_open(&ram, sizeof flash_memory);
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_EMPTY);
  EXPECT_EQUAL(write_package(first, first_bytes), PL_SLOT_OK);
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_OK);
  EXPECT_EQUAL(slot.version, 1u << 24);
  expect_same(slot.plan);

  expect_too_large();
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_OK);
  EXPECT_EQUAL(write_package(second, second_bytes), PL_SLOT_OK);
  EXPECT_EQUAL(slot.version, 1u << 24);
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_OK);
  EXPECT_EQUAL(slot.version, 1u << 24 | 1u << 16);
  expect_same(slot.plan);

  EXPECT_EQUAL(write_package(first, first_bytes), PL_SLOT_OLDER);
  // Newer, signed, and its self-test does not come out: tried once, and never again.
  EXPECT_EQUAL(write_package(broken, broken_bytes), PL_SLOT_OK);
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_OK);
  EXPECT_EQUAL(slot.version, 1u << 24 | 1u << 16);
  EXPECT_EQUAL(slot.found[0], PL_SLOT_SELF_TEST);
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_OK);
  EXPECT_EQUAL(slot.found[0], PL_SLOT_REJECTED);
  expect_same(slot.plan);
  EXPECT_EQUAL(ram.misuses, 0);
  pl_print("PL:STAT package bytes ");
  pl_print_u32(second_bytes);
  pl_print("\n");
  return expect_report();
}
