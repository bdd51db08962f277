// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/executor.h"

pl_status pl_plan_run(const pl_plan *plan, uint32_t *failed_step) {
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    const pl_step *const step = &plan->steps[i];
    const pl_status status = step->run(&step->context, step);
    if (status != PL_OK) {
      *failed_step = i;
      return status;
    }
  }
  return PL_OK;
}
