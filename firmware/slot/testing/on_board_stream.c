// SPDX-License-Identifier: Apache-2.0
//
// An int16 model with state in a slot. Frame by frame, and again after a reset, it equals the same
// model built in.
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/runtime/model.h"
#include "firmware/slot/flash_ram.h"
#include "firmware/slot/slot.h"
#include "firmware/slot/testing/public_key.h"
#include "firmware/slot/testing/stream_built_in.h"
#include "firmware/slot/testing/stream_kernels.h"

enum { SLOT_BYTES = 8192, SECTOR = 512, WRITE = 8, MEMORY_BYTES = 4096, FRAMES = 12 };

extern const uint8_t stream_package[];
extern const uint32_t stream_package_bytes;

static _Alignas(16) uint8_t flash_memory[2 * SLOT_BYTES];
PL_SLOT_MEMORY(memory, MEMORY_BYTES);

static pl_flash_ram ram = {flash_memory, SECTOR, WRITE, 0, 0, 0, 0};
static pl_slot_config config = {
    .offset = {0, SLOT_BYTES},
    .bytes = SLOT_BYTES,
    .kernels = &stream_kernels,
    .model = STREAM_KERNELS_MODEL_STREAM,
    .public_key = PL_TEST_PUBLIC_KEY,
    .memory = memory,
    .memory_bytes = MEMORY_BYTES,
};
static pl_slot slot;

static pl_slot_status write_package(void) {
  uint32_t offset = 0;
  pl_slot_status status =
      pl_slot_begin(&slot, (const pl_package_header *)(const void *)stream_package, &offset);
  if (status == PL_SLOT_OK) status = pl_slot_write(&slot, stream_package, stream_package_bytes);
  return status == PL_SLOT_OK ? pl_slot_finish(&slot) : status;
}

// A run of both on the same frame; returns the sum of the outputs' bytes.
static uint32_t expect_same(pl_model *built, pl_model *loaded, uint32_t *random) {
  const pl_tensor *const from = slot.plan->inputs;
  const pl_tensor *const to = slot.plan->outputs;
  uint8_t *const input = from->data;
  for (uint32_t at = 0; at < from->spec.bytes; ++at) {
    *random = *random * 1664525u + 1013904223u;
    input[at] = (uint8_t)(*random >> 24);
  }
  memcpy(stream_built_in.inputs->data, input, from->spec.bytes);
  EXPECT_EQUAL(pl_model_run(built, stream_built_in.inputs, 1, stream_built_in.outputs, 1), PL_OK);
  EXPECT_EQUAL(pl_model_run(loaded, from, 1, to, 1), PL_OK);
  EXPECT(memcmp(to->data, stream_built_in.outputs->data, to->spec.bytes) == 0);
  uint32_t sum = 0;
  for (uint32_t at = 0; at < to->spec.bytes; ++at) sum = 31 * sum + ((const uint8_t *)to->data)[at];
  return sum;
}

int main(void) {
  pl_model built;
  pl_model loaded;
  uint32_t sums[2] = {0, 0};
  config.flash = pl_flash_ram_open(&ram, sizeof flash_memory);
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_EMPTY);
  EXPECT_EQUAL(write_package(), PL_SLOT_OK);
  const pl_slot_status status = pl_slot_open(&slot, &config);
  EXPECT_EQUAL(status, PL_SLOT_OK);
  if (status != PL_SLOT_OK) return expect_report();
  EXPECT_EQUAL(slot.plan->inputs->spec.bytes, 2 * 2 * 8);  // int16 [1, 2, 8]
  EXPECT_EQUAL(pl_model_init(&built, &stream_built_in), PL_OK);
  EXPECT_EQUAL(pl_model_init(&loaded, slot.plan), PL_OK);
  for (int turn = 0; turn < 2; ++turn) {
    uint32_t random = 1;
    for (int frame = 0; frame < FRAMES; ++frame) {
      sums[turn] = 7 * sums[turn] + expect_same(&built, &loaded, &random);
    }
    EXPECT_EQUAL(pl_model_reset(&built), PL_OK);
    EXPECT_EQUAL(pl_model_reset(&loaded), PL_OK);
  }
  EXPECT_EQUAL(sums[0], sums[1]);
  return expect_report();
}
