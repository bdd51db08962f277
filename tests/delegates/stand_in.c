// SPDX-License-Identifier: Apache-2.0
#include "tests/delegates/stand_in.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_TENSORS = 2 };

static bool is_placed(const stand_in *handle, const void *data, uint32_t bytes) {
  const uintptr_t address = (uintptr_t)data;
  const bool reached =
      handle->reach_size == 0 ||
      (address >= handle->reach && address - handle->reach + bytes <= handle->reach_size);
  return address % STAND_IN_ALIGNMENT == 0 && reached;
}

static bool all_placed(const stand_in *handle, const pl_context *context,
                       const pl_delegate_data *delegate) {
  // The payload may be in flash, where there are no limits here.
  bool placed = (uintptr_t)delegate->payload % STAND_IN_ALIGNMENT == 0 &&
                is_placed(handle, context->scratch, context->scratch_size);
  for (uint32_t i = 0; i < delegate->input_count; ++i) {
    placed = placed && is_placed(handle, delegate->inputs[i].data, delegate->inputs[i].bytes);
  }
  for (uint32_t i = 0; i < delegate->output_count; ++i) {
    placed = placed && is_placed(handle, delegate->outputs[i].data, delegate->outputs[i].bytes);
  }
  return placed;
}

static const pl_plan *plan_of(const pl_delegate_data *delegate) {
  uint32_t checksum;
  const uint8_t *const end = (const uint8_t *)delegate->payload + delegate->payload_bytes;
  memcpy(&checksum, end - sizeof checksum, sizeof checksum);
  for (uint32_t i = 0; i < stand_in_region_count; ++i) {
    if (stand_in_regions[i].checksum == checksum) {
      return stand_in_regions[i].plan;
    }
  }
  return NULL;
}

static bool fits(const pl_plan *plan, const pl_delegate_data *delegate) {
  bool same = plan->input_count == delegate->input_count && plan->input_count <= MAX_TENSORS &&
              plan->output_count == delegate->output_count && plan->output_count <= MAX_TENSORS;
  for (uint32_t i = 0; same && i < plan->input_count; ++i) {
    same = plan->inputs[i].spec.bytes == delegate->inputs[i].bytes;
  }
  for (uint32_t i = 0; same && i < plan->output_count; ++i) {
    same = plan->outputs[i].spec.bytes == delegate->outputs[i].bytes;
  }
  return same;
}

static pl_status run_plan(const pl_plan *plan, const pl_delegate_data *delegate) {
  pl_model model;
  pl_tensor inputs[MAX_TENSORS];
  pl_tensor outputs[MAX_TENSORS];
  pl_status status = pl_model_init(&model, plan);
  for (uint32_t i = 0; i < plan->input_count && status == PL_OK; ++i) {
    status = pl_model_input(&model, i, &inputs[i]);
    memcpy(inputs[i].data, delegate->inputs[i].data, delegate->inputs[i].bytes);
  }
  for (uint32_t i = 0; i < plan->output_count && status == PL_OK; ++i) {
    status = pl_model_output(&model, i, &outputs[i]);
  }
  if (status == PL_OK) {
    status = pl_model_run(&model, inputs, plan->input_count, outputs, plan->output_count);
  }
  for (uint32_t i = 0; i < plan->output_count && status == PL_OK; ++i) {
    memcpy(delegate->outputs[i].data, outputs[i].data, delegate->outputs[i].bytes);
  }
  return status;
}

static pl_status fail(pl_engine *engine, pl_status status, int32_t code, const char *text) {
  engine->code = code;
  engine->text = text;
  return status;
}

static pl_status run(pl_engine *engine, const pl_context *context,
                     const pl_delegate_data *delegate) {
  stand_in *const handle = engine->handle;
  ++handle->runs;
  if (handle->runs == handle->fails_at) {
    return fail(engine, PL_ERROR_DELEGATE_RUN, STAND_IN_FAILS, "told to fail");
  }
  if (context->scratch_size < STAND_IN_SCRATCH) {
    return PL_ERROR_SCRATCH_SIZE;
  }
  if (!all_placed(handle, context, delegate)) {
    return fail(engine, PL_ERROR_DELEGATE_RUN, STAND_IN_MISPLACED, "memory out of reach");
  }
  const pl_plan *const plan = plan_of(delegate);
  if (plan == NULL) {
    return fail(engine, PL_ERROR_DELEGATE_PAYLOAD, STAND_IN_UNKNOWN, "no such region");
  }
  if (!fits(plan, delegate)) {
    return fail(engine, PL_ERROR_DELEGATE_PAYLOAD, STAND_IN_BUFFERS, "other tensors");
  }
  // All of it belongs to the engine during a run.
  memset(context->scratch, (int)handle->runs, context->scratch_size);
  return run_plan(plan, delegate);
}

pl_engine stand_in_engine(stand_in *handle, const char *configuration) {
  return (pl_engine){.backend = "StandInBackend",
                     .configuration = configuration,
                     .run = run,
                     .handle = handle,
                     .text = ""};
}

static pl_status start(pl_engine *engine, const pl_context *context,
                       const pl_delegate_data *delegate) {
  stand_in *const handle = engine->handle;
  (void)context;
  (void)delegate;
  handle->polled = 0;
  if (handle->runs + 1 == handle->refused_at) {
    ++handle->runs;
    return fail(engine, PL_ERROR_DELEGATE_PAYLOAD, STAND_IN_REFUSES, "told to refuse");
  }
  return fail(engine, PL_OK, 0, "");
}

static bool has_ended(pl_engine *engine) {
  stand_in *const handle = engine->handle;
  return handle->polled++ >= handle->polls;
}

pl_engine stand_in_split_engine(stand_in *handle, const char *configuration) {
  pl_engine engine = stand_in_engine(handle, configuration);
  engine.start = start;
  engine.has_ended = has_ended;
  engine.finish = run;
  return engine;
}
