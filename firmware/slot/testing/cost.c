// SPDX-License-Identifier: Apache-2.0
//
// Cost of a slot: an app with a built-in model and, if HAS_SLOT, with all code to update models in
// slots. A profiler counts the regions.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/print.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/profile.h"
#include "firmware/slot/testing/built_in.h"

#if HAS_SLOT
#include "firmware/slot/self_test.h"
#include "firmware/slot/slot.h"
#include "firmware/slot/testing/digits_kernels.h"
#include "firmware/slot/testing/public_key.h"

extern const uint8_t first[];
extern const uint32_t first_bytes;

enum { CHECK = 1, LOAD = 2, SELF_TEST = 3 };

PL_SLOT_MEMORY(memory, 6144);

static bool erase(void *user, uint32_t offset) { return user == NULL && offset == 0; }

static bool program(void *user, uint32_t offset, const uint8_t *data) {
  return user == NULL && offset == 0 && data != NULL;
}

// Runs the package in place, from the image. There is no slot: the code that writes to slots is
// linked but does not run.
static bool run_package(void) {
  static pl_slot slot;
  static pl_slot_config config = {
      .flash = {first, 0, 0, 0, erase, program, NULL},
      .kernels = &digits_kernels,
      .model = DIGITS_KERNELS_MODEL_DIGITS,
      .public_key = PL_TEST_PUBLIC_KEY,
      .memory = memory,
      .memory_bytes = sizeof memory,
  };
  uint32_t offset = 0;
  if (pl_slot_open(&slot, &config) == PL_SLOT_OK &&
      (pl_slot_begin(&slot, (const void *)first, &offset) != PL_SLOT_OK ||
       pl_slot_write(&slot, first, first_bytes) != PL_SLOT_OK ||
       pl_slot_finish(&slot) != PL_SLOT_OK)) {
    return false;
  }
  volatile uint32_t busy = 0;
  const pl_plan *plan = NULL;
  pl_profile_begin(CHECK);
  pl_slot_status status = pl_package_check(first, first_bytes, config.public_key, config.kernels,
                                           &config.model, config.memory_bytes);
  pl_profile_end(CHECK);
  if (status == PL_SLOT_OK) {
    pl_profile_begin(LOAD);
    status =
        pl_package_load(first, first_bytes, config.kernels, memory, sizeof memory, &busy, &plan);
    pl_profile_end(LOAD);
  }
  if (status != PL_SLOT_OK) {
    pl_print(pl_slot_status_text(status));
    pl_print("\n");
    return false;
  }
  pl_profile_begin(SELF_TEST);
  const bool passed = pl_package_self_test(first, plan);
  pl_profile_end(SELF_TEST);
  return passed;
}
#else
static bool run_package(void) { return true; }
#endif

int main(void) {
  pl_model model;
  pl_status status = pl_model_init(&model, &built_in);
  if (status == PL_OK) {
    pl_profile_begin(PL_PROFILE_INFERENCE);
    status = pl_model_run(&model, built_in.inputs, 1, built_in.outputs, 1);
    pl_profile_end(PL_PROFILE_INFERENCE);
  }
  const bool passed = run_package() && status == PL_OK;
  pl_print(passed ? "PL:PASS\n" : "PL:FAIL\n");
  return passed ? 0 : 1;
}
