// SPDX-License-Identifier: Apache-2.0
//
// Runs the steps of a plan. The build selects one of two implementations: executor.c, or
// executor_profiled.c, which marks every step for the profiler.
#ifndef FIRMWARE_RUNTIME_EXECUTOR_H_
#define FIRMWARE_RUNTIME_EXECUTOR_H_

#include <stdint.h>

#include "firmware/runtime/plan.h"
#include "kernels/common/status.h"

// Runs all steps in order. Stops at the first failing step, returns its status and stores its index
// in *failed_step.
PL_MUST_USE pl_status pl_plan_run(const pl_plan *plan, uint32_t *failed_step);

#endif  // FIRMWARE_RUNTIME_EXECUTOR_H_
