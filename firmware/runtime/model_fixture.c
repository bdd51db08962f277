// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/model_fixture.h"

#include <stddef.h>
#include <string.h>

#include "boards/common/expect.h"

_Alignas(16) uint8_t arena[64];

pl_status step_status = PL_OK;
uint32_t steps_run = 0;

pl_status increment(const pl_context *context, const pl_step *step) {
  (void)context;
  int8_t *const values = (int8_t *)(uintptr_t)step->data;
  for (uint32_t i = 0; i < 6; ++i) {
    values[i] = (int8_t)(values[i] + 1);
  }
  ++steps_run;
  return PL_OK;
}

pl_status negate(const pl_context *context, const pl_step *step) {
  const float *const input = (const float *)step->data;
  float *const output = (float *)context->scratch;
  output[0] = -input[0];
  output[1] = -input[1];
  ++steps_run;
  return step_status;
}

static const pl_step steps[] = {
    {increment, {NULL, 0}, NULL, NULL, arena},
    {negate, {arena + 32, 8}, NULL, NULL, arena + 16},
};
static const pl_tensor plan_inputs[] = {
    {{PL_DTYPE_INT8, PL_LAYOUT_ROW_MAJOR, 2, {2, 3}, 0.5f, -3, 6}, arena},
    {{PL_DTYPE_FLOAT32, PL_LAYOUT_ROW_MAJOR, 1, {2}, 0.0f, 0, 8}, arena + 16},
};
static const pl_tensor plan_outputs[] = {
    {{PL_DTYPE_INT8, PL_LAYOUT_NHWC, 4, {1, 1, 2, 3}, 0.25f, 4, 6}, arena},
    {{PL_DTYPE_FLOAT32, PL_LAYOUT_ROW_MAJOR, 1, {2}, 0.0f, 0, 8}, arena + 32},
};
PL_ARENA_TABLE static const pl_arena arenas[] = {{arena, 48}};
const pl_plan plan = {
    .steps = steps,
    .inputs = plan_inputs,
    .outputs = plan_outputs,
    .arenas = arenas,
    .step_count = 2,
    .input_count = 2,
    .output_count = 2,
    .arena_count = 1,
};

void set_up(fixture *f) {
  *f = (fixture){.bytes = {1, 2, 3, 4, 5, 6}, .reals = {1.5f, -2.5f}};
  EXPECT(pl_model_init(&f->model, &plan) == PL_OK);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT(pl_model_input(&f->model, i, &f->inputs[i]) == PL_OK);
    EXPECT(pl_model_output(&f->model, i, &f->outputs[i]) == PL_OK);
  }
  f->inputs[0].data = f->bytes;
  f->inputs[1].data = f->reals;
  f->outputs[0].data = f->byte_results;
  f->outputs[1].data = f->real_results;
  steps_run = 0;
  step_status = PL_OK;
  memset(arena, 0x55, sizeof arena);
}

pl_status run(fixture *f) { return pl_model_run(&f->model, f->inputs, 2, f->outputs, 2); }
