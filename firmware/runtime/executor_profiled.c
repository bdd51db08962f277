// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "firmware/runtime/executor.h"
#include "firmware/runtime/profile.h"

static pl_status run_steps(const pl_plan *plan, uint32_t *failed_step) {
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    const pl_step *const step = &plan->steps[i];
    pl_profile_begin(PL_PROFILE_STEP + i);
    const uint32_t start = pl_profile_cycles();
    const pl_status status = step->run(&step->context, step);
    const uint32_t cycles = pl_profile_cycles() - start;
    pl_profile_end(PL_PROFILE_STEP + i);
    pl_profile_report(plan, PL_PROFILE_STEP + i, cycles);
    if (status != PL_OK) {
      *failed_step = i;
      return status;
    }
  }
  return PL_OK;
}

pl_status pl_plan_run(const pl_plan *plan, uint32_t *failed_step) {
  pl_profile_plan(plan);
  const pl_status status = run_steps(plan, failed_step);
  pl_profile_plan(NULL);
  return status;
}
