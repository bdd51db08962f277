// SPDX-License-Identifier: Apache-2.0
#include "firmware/apps/inference.h"

#include <string.h>

#include "boards/common/console.h"
#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

static void require_ok(const pl_app *app, pl_status status) {
  if (status != PL_OK) {
    pl_print("status ");
    pl_print(pl_status_name(status));
    pl_print(" at tensor or step ");
    pl_print_u32(app->model.error_index);
    pl_print("\n");
    pl_app_end(false, "the model does not run");
  }
}

// If the plan has delegates, the vectors' file has its own version (vectors.py), and this one takes
// no room.
__attribute__((weak)) void pl_app_init(pl_app *app, const pl_vectors *vectors) {
  *app = (pl_app){.vectors = vectors};
  require_ok(app, pl_model_init(&app->model, vectors->plan));
}

void pl_app_reset(pl_app *app) { require_ok(app, pl_model_reset(&app->model)); }

typedef struct {
  const uint8_t *input;
  uint32_t row_bytes;
} stored_rows;

static pl_status read_row(void *user, uint32_t row, void *to) {
  const stored_rows *const stored = user;
  memcpy(to, stored->input + (size_t)row * stored->row_bytes, stored->row_bytes);
  return PL_OK;
}

// Passes the input row by row, like a sensor.
static void run_rows(pl_app *app, uint32_t index) {
  const pl_plan *const plan = app->vectors->plan;
  const uint8_t *const stored = app->vectors->inputs[0];
  stored_rows rows = {stored + (size_t)index * plan->inputs[0].spec.bytes,
                      plan->input_rows->row_bytes};
  pl_profile_begin(PL_PROFILE_INFERENCE);
  const pl_status status =
      pl_model_run_rows(&app->model, read_row, &rows, plan->outputs, plan->output_count);
  pl_profile_end(PL_PROFILE_INFERENCE);
  require_ok(app, status);
}

// The plan's own tensors serve as descriptors: nothing is copied in the run.
void pl_app_run(pl_app *app, uint32_t index) {
  const pl_plan *const plan = app->vectors->plan;
  if (plan->input_rows != NULL) {
    run_rows(app, index);
    return;
  }
  for (uint32_t i = 0; i < plan->input_count; ++i) {
    const uint8_t *const stored = app->vectors->inputs[i];
    const uint32_t bytes = plan->inputs[i].spec.bytes;
    memcpy(plan->inputs[i].data, stored + (size_t)index * bytes, bytes);
  }
  pl_profile_begin(PL_PROFILE_INFERENCE);
  const pl_status status =
      pl_model_run(&app->model, plan->inputs, plan->input_count, plan->outputs, plan->output_count);
  pl_profile_end(PL_PROFILE_INFERENCE);
  require_ok(app, status);
}

const uint8_t *pl_app_expected(const pl_app *app, uint32_t index, uint32_t output) {
  const uint8_t *const stored = app->vectors->outputs[output];
  return stored + (size_t)index * app->vectors->plan->outputs[output].spec.bytes;
}

bool pl_app_as_expected(const pl_app *app, uint32_t index, uint32_t output) {
  const pl_tensor *const tensor = &app->vectors->plan->outputs[output];
  const uint32_t count = tensor->spec.bytes / pl_dtype_size(tensor->spec.dtype);
  return app->vectors->compare(tensor, pl_app_expected(app, index, output)) == count;
}

void pl_app_stat(const char *name, uint32_t value) {
  pl_print("PL:STAT ");
  pl_print(name);
  pl_print(" ");
  pl_print_u32(value);
  pl_print("\n");
}

void pl_app_end(bool pass, const char *why) {
  if (pass) {
    pl_print("PL:PASS\n");
  } else {
    pl_print("PL:FAIL ");
    pl_print(why);
    pl_print("\n");
  }
  pl_exit(pass ? 0 : 1);
}
