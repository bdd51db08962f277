// SPDX-License-Identifier: Apache-2.0
//
// Two models without shared memory. One runs once; the other has state and runs three times.
#include <stddef.h>

#include "boards/common/console.h"
#include "boards/common/print.h"
#include "firmware/runtime/model.h"
#include "tests/several/digits_plan.h"
#include "tests/several/state_plan.h"

static pl_model digits;
static pl_model state;

static pl_status run(pl_model *model, const pl_plan *plan) {
  return pl_model_run(model, plan->inputs, plan->input_count, plan->outputs, plan->output_count);
}

int main(void) {
  pl_status status = pl_model_init(&digits, &digits_plan);
  if (status == PL_OK) status = pl_model_init(&state, &state_plan);
  if (status == PL_OK) status = run(&digits, &digits_plan);
  for (uint32_t i = 0; status == PL_OK && i < 3; ++i) {
    status = run(&state, &state_plan);
  }
  pl_print(status == PL_OK ? "PL:PASS\n" : "PL:FAIL a model does not run\n");
  pl_exit(status == PL_OK ? 0 : 1);
}
