// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/delegate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Room that the plan compiler keeps (ENGINES in firmware/plan/delegates.py).
_Static_assert(sizeof(pl_engines) <= 16, "plans keep 16 bytes for the engines");

static uint32_t check_of(const pl_engines *engines) {
  return (uint32_t)(uintptr_t)engines->engines ^ (uint32_t)(uintptr_t)engines ^ engines->count ^
         0x504c454eu;
}

static bool runs(const pl_engine *engine, const pl_delegate_data *delegate) {
  return strcmp(engine->backend, delegate->backend) == 0 &&
         (delegate->configuration[0] == '\0' || engine->configuration[0] == '\0' ||
          strcmp(engine->configuration, delegate->configuration) == 0);
}

static pl_engine *find(pl_engine *engines, uint32_t count, const pl_delegate_data *delegate) {
  for (uint32_t i = 0; i < count; ++i) {
    if (runs(&engines[i], delegate)) {
      return &engines[i];
    }
  }
  return NULL;
}

pl_status pl_model_init_with_engines(pl_model *model, const pl_plan *plan, pl_engine *engines,
                                     uint32_t count) {
  if (model == NULL || plan == NULL || (engines == NULL && count > 0)) {
    return PL_ERROR_NULL;
  }
  *model = (pl_model){.plan = plan};
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    if (plan->steps[i].run != pl_delegate_step) {
      continue;
    }
    const pl_delegate_data *const delegate = plan->steps[i].data;
    *delegate->engines = (pl_engines){0};
    if (find(engines, count, delegate) == NULL) {
      model->error_index = i;
      return PL_ERROR_DELEGATE_ENGINE;
    }
    *delegate->engines = (pl_engines){.engines = engines, .count = count};
    delegate->engines->check = check_of(delegate->engines);
  }
  return pl_model_init(model, plan);
}

pl_status pl_delegate_step(const pl_context *context, const pl_step *step) {
  const pl_delegate_data *const delegate = step->data;
  const pl_engines *const given = delegate->engines;
  if (given->check != check_of(given)) {
    return PL_ERROR_DELEGATE_ENGINE;
  }
  pl_engine *const engine = find(given->engines, given->count, delegate);
  if (engine == NULL) {
    return PL_ERROR_DELEGATE_ENGINE;
  }
  engine->code = 0;
  engine->text = "";
  return engine->run(engine, context, delegate);
}

const char *pl_delegate_status_name(pl_status status) {
  switch (status) {
    case PL_ERROR_DELEGATE_ENGINE:
      return "PL_ERROR_DELEGATE_ENGINE";
    case PL_ERROR_DELEGATE_PAYLOAD:
      return "PL_ERROR_DELEGATE_PAYLOAD";
    case PL_ERROR_DELEGATE_RUN:
      return "PL_ERROR_DELEGATE_RUN";
    default:
      return pl_status_name(status);
  }
}
