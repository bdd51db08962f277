// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/split.h"

#include <stddef.h>

#include "firmware/runtime/run.h"

// Marks a run, as opposed to memory never written.
#define RUN_STARTED 0x504c5253u
#define RUN_ENDED 0x504c5245u

static pl_status end(pl_run *run, pl_status status) {
  run->state = RUN_ENDED;
  run->status = pl_run_end(run->model, run->outputs, status);
  return run->status;
}

static pl_status fail(pl_run *run, pl_status status) {
  run->model->error_index = run->step;
  return end(run, status);
}

// Runs steps until an engine has begun with one, or the last has ended.
static pl_status go_on(pl_run *run) {
  const pl_plan *const plan = run->model->plan;
  for (; run->step < plan->step_count; ++run->step) {
    const pl_step *const step = &plan->steps[run->step];
    pl_engine *const engine = pl_delegate_engine(step);
    const bool is_apart = engine != NULL && engine->start != NULL;
    const pl_status status = is_apart ? engine->start(engine, &step->context, step->data)
                                      : step->run(&step->context, step);
    if (status != PL_OK) {
      return fail(run, status);
    }
    if (is_apart) {
      run->engine = engine;
      return PL_OK;
    }
  }
  return end(run, PL_OK);
}

// Waits for the engine, and goes on.
static pl_status finish(pl_run *run) {
  const pl_step *const step = &run->model->plan->steps[run->step];
  const pl_status status = run->engine->finish(run->engine, &step->context, step->data);
  if (status != PL_OK) {
    return fail(run, status);
  }
  ++run->step;
  return go_on(run);
}

pl_status pl_model_start(pl_run *run, pl_model *model, const pl_tensor *inputs,
                         uint32_t input_count, const pl_tensor *outputs, uint32_t output_count) {
  if (run == NULL) {
    return PL_ERROR_NULL;
  }
  if (run->state == RUN_STARTED) {
    return PL_ERROR_BUSY;
  }
  const pl_status status = pl_run_begin(model, inputs, input_count, outputs, output_count);
  *run = (pl_run){.state = RUN_ENDED, .status = status, .model = model, .outputs = outputs};
  if (status != PL_OK) {
    return status;
  }
  run->state = RUN_STARTED;
  return go_on(run);
}

static bool is_started(const pl_run *run) { return run->state == RUN_STARTED; }

static pl_status check(const pl_run *run) {
  if (run == NULL) {
    return PL_ERROR_NULL;
  }
  return is_started(run) || run->state == RUN_ENDED ? PL_OK : PL_ERROR_NOT_READY;
}

pl_status pl_model_poll(pl_run *run, bool *ended) {
  const pl_status problem = ended == NULL ? PL_ERROR_NULL : check(run);
  if (problem != PL_OK) {
    return problem;
  }
  if (is_started(run) && run->engine->has_ended(run->engine)) {
    const pl_status status = finish(run);
    *ended = !is_started(run);
    return status;
  }
  *ended = !is_started(run);
  return *ended ? run->status : PL_OK;
}

pl_status pl_model_wait(pl_run *run) {
  const pl_status problem = check(run);
  if (problem != PL_OK) {
    return problem;
  }
  while (is_started(run)) {
    const pl_status status = finish(run);
    if (status != PL_OK) {
      return status;
    }
  }
  return run->status;
}
