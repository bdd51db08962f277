// SPDX-License-Identifier: Apache-2.0
//
// Slots in real flash, by its controller. The test installs a first model, loses power during an
// update by a chip reset, and resumes the update. Only the flash is kept between the starts.
#include <stdint.h>

#include "boards/common/expect.h"
#include "firmware/runtime/model.h"
#include "firmware/slot/slot.h"
#include "firmware/slot/testing/digits_kernels.h"
#include "firmware/slot/testing/flash_of_board.h"
#include "firmware/slot/testing/public_key.h"

enum { CUT = 5056, PIECE = 64, MEMORY_BYTES = 6144 };
enum { OLD = 1u << 24, NEW = 1u << 24 | 1u << 16 };

extern const uint8_t first[];
extern const uint32_t first_bytes;
extern const uint8_t second[];
extern const uint32_t second_bytes;

PL_SLOT_MEMORY(memory, MEMORY_BYTES);

static pl_slot_config config = {
    .kernels = &digits_kernels,
    .model = DIGITS_KERNELS_MODEL_DIGITS,
    .public_key = PL_TEST_PUBLIC_KEY,
    .memory = memory,
    .memory_bytes = MEMORY_BYTES,
};
static pl_slot slot;

_Noreturn static void reset(void) {
  *(volatile uint32_t *)0xe000ed0c = 0x05fa0004;  // AIRCR: SYSRESETREQ
  for (;;) {
  }
}

// Ends in a reset after `end` bytes.
static pl_slot_status update(const uint8_t *package, uint32_t bytes, uint32_t end,
                             uint32_t *offset) {
  pl_slot_status status =
      pl_slot_begin(&slot, (const pl_package_header *)(const void *)package, offset);
  for (uint32_t at = *offset; status == PL_SLOT_OK && at < bytes; at += PIECE) {
    if (at >= end) reset();
    status = pl_slot_write(&slot, package + at, bytes - at < PIECE ? bytes - at : PIECE);
  }
  return status == PL_SLOT_OK ? pl_slot_finish(&slot) : status;
}

static void expect_runs(uint32_t version) {
  pl_model model;
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_OK);
  EXPECT_EQUAL(slot.version, version);
  EXPECT_EQUAL(pl_model_init(&model, slot.plan), PL_OK);
  EXPECT_EQUAL(pl_model_run(&model, slot.plan->inputs, 1, slot.plan->outputs, 1), PL_OK);
}

int main(void) {
  uint32_t offset = 0;
  config.flash = flash_of_board(0);
  config.bytes = config.flash.bytes / 2;
  config.offset[1] = config.bytes;
  // Erasing would begin before such a place.
  config.flash = flash_of_board(PL_PACKAGE_ALIGNMENT);
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_CONFIG);
  config.flash = flash_of_board(0);
  if (pl_slot_open(&slot, &config) == PL_SLOT_EMPTY) {
    pl_slot_status status = update(first, first_bytes, first_bytes, &offset);
    EXPECT_EQUAL(status, PL_SLOT_OK);
    if (status != PL_SLOT_OK) return expect_report();
    expect_runs(OLD);
    status = update(second, second_bytes, CUT, &offset);
    EXPECT_EQUAL(status, PL_SLOT_FLASH);  // never comes back
    return expect_report();
  }
  expect_runs(OLD);
  EXPECT_EQUAL(update(second, second_bytes, second_bytes, &offset), PL_SLOT_OK);
  // Start of the page with the power loss.
  EXPECT_EQUAL(offset, CUT / config.flash.sector_bytes * config.flash.sector_bytes);
  expect_runs(NEW);
  EXPECT_EQUAL(update(first, first_bytes, first_bytes, &offset), PL_SLOT_OLDER);
  return expect_report();
}
