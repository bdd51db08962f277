// SPDX-License-Identifier: Apache-2.0
//
// A run in parts: while an engine works on one of the plan's delegates, the core is the app's.
//
//   static pl_run run;
//   bool ended = false;
//   pl_status status = pl_model_start(&run, &model, &input, 1, &output, 1);
//   while (status == PL_OK && !ended) {
//     ... something else ...
//     status = pl_model_poll(&run, &ended);
//   }
//
// or pl_model_wait(&run) when there is nothing else to do. Steps of the core run where they come,
// in pl_model_start, pl_model_poll and pl_model_wait, which return when the next engine has begun.
// Engines that cannot be started apart run there too.
//
// Until the run has ended, one way or another, the plan is busy: whoever runs it, resets it or
// makes it ready, or a plan that shares its arena, gets PL_ERROR_BUSY, and so does who wants the
// same engine for another plan. The calls for one run are one thread's.
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
  pl_status status;  // that the run ended with
  pl_model *model;
  const pl_tensor *outputs;
  pl_engine *engine;  // that works on step `step`
  uint32_t step;
} pl_run;

// Starts an inference: up to its first delegate, or to its end, if there is none. Arguments and
// status as of pl_model_run; PL_ERROR_BUSY also if `run` has not ended. Where it is not PL_OK there
// is nothing to wait for. Until a run has ended the descriptors of the outputs must stay where they
// are, and so must the input of a plan that takes it row by row; other inputs have been taken.
PL_MUST_USE pl_status pl_model_start(pl_run *run, pl_model *model, const pl_tensor *inputs,
                                     uint32_t input_count, const pl_tensor *outputs,
                                     uint32_t output_count);

// Does not wait for an engine. Where that has ended, runs the steps up to the next delegate, or to
// the end, which `ended` says: then the outputs are there, or the status says why not. After that
// it gives the same again. A hang of the NPU is seen as its board's ticks say, by pl_model_wait
// sooner. PL_ERROR_NULL; PL_ERROR_NOT_READY if nothing was started.
PL_MUST_USE pl_status pl_model_poll(pl_run *run, bool *ended);

// To the end, waiting for engines: sleeping, where their driver does. The status of the run.
PL_MUST_USE pl_status pl_model_wait(pl_run *run);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_RUNTIME_SPLIT_H_
