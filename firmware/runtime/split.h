// SPDX-License-Identifier: Apache-2.0
//
// A run in parts: while an engine works on one of the plan's delegates, the app uses the core.
//
//   static pl_run run;
//   bool ended = false;
//   pl_status status = pl_model_start(&run, &model, &input, 1, &output, 1);
//   while (status == PL_OK && !ended) {
//     ... something else ...
//     status = pl_model_poll(&run, &ended);
//   }
//
// Call pl_model_wait(&run) if there is nothing else to do. Steps of the core run in order inside
// pl_model_start, pl_model_poll and pl_model_wait. These return when the next engine has begun.
// Engines without a separate start run there too.
//
// Until the run has ended, successfully or not, the plan is busy. Running, resetting or
// initializing it, or a plan sharing its arena, returns PL_ERROR_BUSY. So does a use of the same
// engine for another plan. All calls for one run must come from one thread.
#ifndef FIRMWARE_RUNTIME_SPLIT_H_
#define FIRMWARE_RUNTIME_SPLIT_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/runtime/delegate.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/plan.h"
#include "kernels/common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Owned by the caller; its fields are private. It must stay where it is until the run has ended.
typedef struct {
  uint32_t state;
  pl_status status;  // final status of the run
  pl_model *model;
  const pl_tensor *outputs;
  pl_engine *engine;  // working on step `step`
  uint32_t step;
} pl_run;

// Starts an inference: up to its first delegate, or to its end, if there is none. Arguments and
// status as of pl_model_run; PL_ERROR_BUSY also if `run` has not ended. If the status is not PL_OK,
// there is nothing to wait for. Until a run has ended, the descriptors of the outputs must stay at
// their addresses. So must the input of a plan with row streaming; other inputs have been copied.
PL_MUST_USE pl_status pl_model_start(pl_run *run, pl_model *model, const pl_tensor *inputs,
                                     uint32_t input_count, const pl_tensor *outputs,
                                     uint32_t output_count);

// Does not wait for an engine. If the engine has ended, it runs the steps up to the next delegate,
// or to the end. At the end it sets `ended`: the outputs are then valid, or the status has the
// reason. Later calls return the same. It detects a hang of the NPU by its board's ticks;
// pl_model_wait detects it sooner. PL_ERROR_NULL; PL_ERROR_NOT_READY if nothing was started.
PL_MUST_USE pl_status pl_model_poll(pl_run *run, bool *ended);

// Runs to the end and waits for engines, sleeping if their driver does. Returns the status of the
// run.
PL_MUST_USE pl_status pl_model_wait(pl_run *run);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_RUNTIME_SPLIT_H_
