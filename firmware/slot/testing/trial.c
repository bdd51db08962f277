// SPDX-License-Identifier: Apache-2.0
//
// A model whose trial never ends. It first hangs until the watchdog resets the chip, then it
// faults, then power is lost in the middle of it. The start after the third trial rejects it, and
// the previous model runs. Each start is a chip start: only content in flash survives.
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "boards/common/print.h"
#include "boards/common/timer.h"
#include "boards/irqs.h"
#include "firmware/runtime/model.h"
#include "firmware/slot/flash_ram.h"
#include "firmware/slot/slot.h"
#include "firmware/slot/testing/digits_kernels.h"
#include "firmware/slot/testing/public_key.h"

enum { SLOT_BYTES = 20480, SECTOR = 512, WRITE = 8, MEMORY_BYTES = 8192, KERNELS = 8 };
enum { OLD = 1u << 24, NEW = 1u << 24 | 1u << 16, INSTALLED = 0x1a57a11e };

extern const uint8_t first[];
extern const uint32_t first_bytes;
extern const uint8_t second[];
extern const uint32_t second_bytes;

// Start-up leaves memory of this section alone; all boards of the test have it.
typedef struct {
  _Alignas(16) uint8_t flash[2 * SLOT_BYTES];
  uint32_t installed;
  uint32_t starts;
  uint32_t resets_by_watchdog;
  uint32_t resets_by_faults;
} kept_memory;
__attribute__((section(".bss.pl_arena.sram"))) static kept_memory kept;

PL_SLOT_MEMORY(memory, MEMORY_BYTES);

static pl_flash_ram ram = {kept.flash, SECTOR, WRITE, 0, 0, 0, 0};
static pl_slot_kernel kernels[KERNELS];
static pl_slot_kernels table;
static pl_step_fn real_kernel;
static volatile bool misbehaves;
static pl_slot slot;

_Noreturn static void reset(void) {
  *(volatile uint32_t *)0xe000ed0c = 0x05fa0004;  // AIRCR: SYSRESETREQ
  for (;;) {
  }
}

// The watchdog: the board's timer, as not every board has one. It starts when the model hangs, as
// signatures take a simulator longer than a board.
void PL_TIMER_HANDLER(void) {
  pl_timer_acknowledge();
  ++kept.resets_by_watchdog;
  reset();
}

// Same handler as in a product.
void HardFault_Handler(void) {
  ++kept.resets_by_faults;
  reset();
}
void UsageFault_Handler(void) { HardFault_Handler(); }

static pl_status kernel(const pl_context *context, const pl_step *step) {
  if (misbehaves) {
    switch (kept.starts) {
      case 1:
        EXPECT(pl_timer_start(20));
        for (;;) {
        }
      case 2:
        __asm__ volatile("udf #0");
        break;
      default:
        reset();
    }
  }
  return real_kernel(context, step);
}

static pl_slot_config config = {
    .offset = {0, SLOT_BYTES},
    .bytes = SLOT_BYTES,
    .kernels = &table,
    .model = DIGITS_KERNELS_MODEL_DIGITS,
    .public_key = PL_TEST_PUBLIC_KEY,
    .memory = memory,
    .memory_bytes = MEMORY_BYTES,
};

static pl_slot_status write_package(const uint8_t *package, uint32_t bytes) {
  uint32_t offset = 0;
  pl_slot_status status =
      pl_slot_begin(&slot, (const pl_package_header *)(const void *)package, &offset);
  if (status == PL_SLOT_OK) status = pl_slot_write(&slot, package + offset, bytes - offset);
  return status == PL_SLOT_OK ? pl_slot_finish(&slot) : status;
}

// Installs a model with a successful self-test, and another one to be tried.
static void install(void) {
  memset(&kept, 0, sizeof kept);
  config.flash = pl_flash_ram_open(&ram, sizeof kept.flash);
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_EMPTY);
  EXPECT_EQUAL(write_package(first, first_bytes), PL_SLOT_OK);
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_OK);
  EXPECT_EQUAL(write_package(second, second_bytes), PL_SLOT_OK);
  kept.installed = INSTALLED;
}

static void expect_runs(uint32_t version) {
  pl_model model;
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_OK);
  EXPECT_EQUAL(slot.version, version);
  EXPECT_EQUAL(pl_model_init(&model, slot.plan), PL_OK);
  EXPECT_EQUAL(pl_model_run(&model, slot.plan->inputs, 1, slot.plan->outputs, 1), PL_OK);
}

int main(void) {
  table = digits_kernels;
  EXPECT(table.count <= KERNELS);
  memcpy(kernels, digits_kernels.kernels, table.count * sizeof kernels[0]);
  table.kernels = kernels;
  real_kernel = kernels[0].run;
  kernels[0].run = kernel;
  config.flash = pl_flash_ram_driver(&ram, sizeof kept.flash);
  if (kept.installed != INSTALLED) install();

  if (++kept.starts <= 3) {
    misbehaves = true;
    const pl_slot_status status = pl_slot_open(&slot, &config);
    pl_print(pl_slot_status_text(status));
    pl_print("\nPL:FAIL a trial came back\n");
    return 1;
  }
  EXPECT_EQUAL(kept.starts, 4);
  EXPECT_EQUAL(kept.resets_by_watchdog, 1);
  EXPECT_EQUAL(kept.resets_by_faults, 1);
  expect_runs(OLD);
  EXPECT_EQUAL(slot.found[1], PL_SLOT_SELF_TEST);
  expect_runs(OLD);
  EXPECT_EQUAL(slot.found[1], PL_SLOT_REJECTED);
  // It may be installed again, for example with firmware whose kernels work for it.
  EXPECT_EQUAL(write_package(second, second_bytes), PL_SLOT_OK);
  expect_runs(NEW);
  EXPECT_EQUAL(ram.misuses, 0);
  return expect_report();
}
