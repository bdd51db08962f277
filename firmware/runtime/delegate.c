// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/delegate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "firmware/runtime/run.h"

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

// The caller holds the plan.
static pl_status hand_in(pl_model *model, pl_engine *engines, uint32_t count) {
  const pl_plan *const plan = model->plan;
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    if (plan->steps[i].run != pl_delegate_step) {
      continue;
    }
    const pl_delegate_data *const delegate = plan->steps[i].data;
    if (find(engines, count, delegate) == NULL) {
      *delegate->engines = (pl_engines){0};
      model->error_index = i;
      return PL_ERROR_DELEGATE_ENGINE;
    }
    *delegate->engines = (pl_engines){.engines = engines, .count = count};
  }
  return PL_OK;
}

pl_status pl_model_init_with_engines(pl_model *model, const pl_plan *plan, pl_engine *engines,
                                     uint32_t count) {
  if (model == NULL || plan == NULL || (engines == NULL && count > 0)) {
    return PL_ERROR_NULL;
  }
  if (!pl_plan_take(plan)) {
    return PL_ERROR_BUSY;
  }
  *model = (pl_model){.plan = plan};
  const pl_status status = hand_in(model, engines, count);
  pl_plan_give_back(plan);
  return status == PL_OK ? pl_model_init(model, plan) : status;
}

pl_engine *pl_delegate_engine(const pl_step *step) {
  if (step->run != pl_delegate_step) {
    return NULL;
  }
  const pl_delegate_data *const delegate = step->data;
  return find(delegate->engines->engines, delegate->engines->count, delegate);
}

pl_status pl_delegate_step(const pl_context *context, const pl_step *step) {
  pl_engine *const engine = pl_delegate_engine(step);
  if (engine == NULL) {
    return PL_ERROR_DELEGATE_ENGINE;
  }
  engine->code = 0;
  engine->text = "";
  return engine->run(engine, context, step->data);
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
