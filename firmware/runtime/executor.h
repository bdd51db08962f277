// SPDX-License-Identifier: Apache-2.0
//
// Runs the steps of a plan. Two implementations, chosen by the build: executor.c, and
// executor_profiled.c that marks every step for the profiler.
#ifndef FIRMWARE_RUNTIME_EXECUTOR_H_
#define FIRMWARE_RUNTIME_EXECUTOR_H_

#include <stdint.h>

#include "firmware/runtime/plan.h"
#include "kernels/common/status.h"

// Runs all steps in order. Ends at the first that fails, returns its status and puts its index into
// *failed_step.
PL_MUST_USE pl_status pl_plan_run(const pl_plan *plan, uint32_t *failed_step);

#endif  // FIRMWARE_RUNTIME_EXECUTOR_H_
