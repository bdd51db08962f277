// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "firmware/runtime/executor.h"
#include "firmware/runtime/run.h"

// Marks an initialised model, as opposed to memory never written.
#define MODEL_READY 0x504c4f4bu

// Statuses of one side of the model.
typedef struct {
  pl_status count;
  pl_status null;
  pl_status dtype;
  pl_status layout;
  pl_status rank;
  pl_status shape;
  pl_status scale;
  pl_status zero_point;
  pl_status size;
  pl_status alignment;
  pl_status overlap;
} side_errors;

static const side_errors input_errors = {
    .count = PL_ERROR_INPUT_COUNT,
    .null = PL_ERROR_INPUT_NULL,
    .dtype = PL_ERROR_INPUT_DTYPE,
    .layout = PL_ERROR_INPUT_LAYOUT,
    .rank = PL_ERROR_INPUT_RANK,
    .shape = PL_ERROR_INPUT_SHAPE,
    .scale = PL_ERROR_INPUT_SCALE,
    .zero_point = PL_ERROR_INPUT_ZERO_POINT,
    .size = PL_ERROR_INPUT_SIZE,
    .alignment = PL_ERROR_INPUT_ALIGNMENT,
    .overlap = PL_ERROR_INPUT_OVERLAP,
};

static const side_errors output_errors = {
    .count = PL_ERROR_OUTPUT_COUNT,
    .null = PL_ERROR_OUTPUT_NULL,
    .dtype = PL_ERROR_OUTPUT_DTYPE,
    .layout = PL_ERROR_OUTPUT_LAYOUT,
    .rank = PL_ERROR_OUTPUT_RANK,
    .shape = PL_ERROR_OUTPUT_SHAPE,
    .scale = PL_ERROR_OUTPUT_SCALE,
    .zero_point = PL_ERROR_OUTPUT_ZERO_POINT,
    .size = PL_ERROR_OUTPUT_SIZE,
    .alignment = PL_ERROR_OUTPUT_ALIGNMENT,
    .overlap = PL_ERROR_OUTPUT_OVERLAP,
};

// Compares bits: no floating-point unit needed, and a NaN is not taken for a scale.
static bool same_scale(float a, float b) {
  uint32_t a_bits;
  uint32_t b_bits;
  memcpy(&a_bits, &a, sizeof a_bits);
  memcpy(&b_bits, &b, sizeof b_bits);
  return a_bits == b_bits;
}

// The arenas of all plans of the program (PL_ARENA_TABLE), between two symbols. The linker defines
// these if there are any arenas.
extern const pl_arena all_arenas[] __asm__("__start_pl_arenas") __attribute__((weak));
extern const pl_arena all_arenas_end[] __asm__("__stop_pl_arenas") __attribute__((weak));

// Compares distances, because the end of data at the top of the address space wraps to 0.
static bool overlap(const pl_tensor *tensor, const void *data, uint32_t bytes) {
  const uintptr_t distance = (uintptr_t)tensor->data - (uintptr_t)data;
  return distance < bytes || -distance < tensor->spec.bytes;
}

static bool overlaps_arena(const pl_tensor *tensor, const pl_arena *arenas, const pl_arena *end) {
  for (const pl_arena *arena = arenas; arena < end; ++arena) {
    if (overlap(tensor, arena->base, arena->size)) {
      return true;
    }
  }
  return false;
}

static bool leaves_address_space(const pl_tensor *tensor) {
  return tensor->spec.bytes - 1 > UINTPTR_MAX - (uintptr_t)tensor->data;
}

// An input in a shared arena may be data left there by another model. It is copied to its own
// place, before or after the other inputs. It may therefore not overlap their places: neither copy
// may destroy the other's data.
static bool may_be_copied(const pl_plan *plan, const pl_tensor *actual, const pl_tensor *place) {
  for (uint32_t i = 0; i < plan->input_count; ++i) {
    const pl_tensor *const other = &plan->inputs[i];
    if (other != place && overlap(actual, other->data, other->spec.bytes)) {
      return false;
    }
  }
  return plan->shares_arena != 0 && plan->input_rows == NULL;
}

static pl_status check_tensor(const pl_plan *plan, const pl_tensor *actual,
                              const pl_tensor *expected, const side_errors *errors) {
  const pl_tensor_spec *const spec = &expected->spec;
  if (actual->data == NULL) {
    return errors->null;
  }
  if (actual->spec.dtype != spec->dtype) {
    return errors->dtype;
  }
  if (actual->spec.layout != spec->layout) {
    return errors->layout;
  }
  if (actual->spec.rank != spec->rank) {
    return errors->rank;
  }
  for (uint32_t i = 0; i < spec->rank; ++i) {
    if (actual->spec.shape[i] != spec->shape[i]) {
      return errors->shape;
    }
  }
  if (!same_scale(actual->spec.scale, spec->scale)) {
    return errors->scale;
  }
  if (actual->spec.zero_point != spec->zero_point) {
    return errors->zero_point;
  }
  if (actual->spec.bytes != spec->bytes || leaves_address_space(actual)) {
    return errors->size;
  }
  if (((uintptr_t)actual->data & (pl_dtype_size(spec->dtype) - 1)) != 0) {
    return errors->alignment;
  }
  if (actual->data != expected->data &&
      overlaps_arena(actual, plan->arenas, plan->arenas + plan->arena_count) &&
      !(errors == &input_errors && may_be_copied(plan, actual, expected))) {
    return errors->overlap;
  }
  return PL_OK;
}

static pl_status check_side(pl_model *model, const pl_tensor *actual, uint32_t actual_count,
                            const pl_tensor *expected, uint32_t expected_count,
                            const side_errors *errors) {
  model->error_index = 0;
  if (actual_count != expected_count) {
    return errors->count;
  }
  if (actual == NULL && expected_count > 0) {
    return errors->null;
  }
  for (uint32_t i = 0; i < expected_count; ++i) {
    const pl_status status = check_tensor(model->plan, &actual[i], &expected[i], errors);
    if (status != PL_OK) {
      model->error_index = i;
      return status;
    }
  }
  return PL_OK;
}

// Data copied to a place outside of the arenas must not overlap another model's arena, or another
// output. Inputs are only read, so they may lie in another model's arena. Not inlined: its stack
// frame would otherwise stay while the kernels run.
__attribute__((noinline)) static pl_status check_written(pl_model *model,
                                                         const pl_tensor *outputs) {
  const pl_tensor *const in_place = model->plan->outputs;
  for (uint32_t i = 0; i < model->plan->output_count; ++i) {
    if (outputs[i].data == in_place[i].data) {
      continue;
    }
    bool is_taken = overlaps_arena(&outputs[i], all_arenas, all_arenas_end);
    for (uint32_t before = 0; before < i && !is_taken; ++before) {
      is_taken = overlap(&outputs[i], outputs[before].data, outputs[before].spec.bytes);
    }
    if (is_taken) {
      model->error_index = i;
      return PL_ERROR_OUTPUT_OVERLAP;
    }
  }
  return PL_OK;
}

static bool is_ready(const pl_model *model) { return model->ready == MODEL_READY; }

static void reset_states(const pl_plan *plan) {
  if (plan->states != NULL) {
    plan->states->reset(plan->states);
  }
}

pl_status pl_model_init(pl_model *model, const pl_plan *plan) {
  if (model == NULL || plan == NULL) {
    return PL_ERROR_NULL;
  }
  if (!pl_plan_take(plan)) {
    return PL_ERROR_BUSY;
  }
  *model = (pl_model){.plan = plan, .ready = MODEL_READY, .error_index = 0};
  reset_states(plan);
  pl_plan_give_back(plan);
  return PL_OK;
}

pl_status pl_model_reset(pl_model *model) {
  if (model == NULL) {
    return PL_ERROR_NULL;
  }
  if (!is_ready(model)) {
    return PL_ERROR_NOT_READY;
  }
  if (!pl_plan_take(model->plan)) {
    return PL_ERROR_BUSY;
  }
  reset_states(model->plan);
  pl_plan_give_back(model->plan);
  return PL_OK;
}

pl_status pl_model_check(const pl_model *model) {
  if (model == NULL) {
    return PL_ERROR_NULL;
  }
  if (!is_ready(model)) {
    return PL_ERROR_NOT_READY;
  }
  const pl_constants *const constants = model->plan->constants;
  return constants == NULL ? PL_ERROR_NO_CHECKSUM : constants->check(constants);
}

pl_status pl_model_input(const pl_model *model, uint32_t index, pl_tensor *tensor) {
  if (model == NULL || tensor == NULL) {
    return PL_ERROR_NULL;
  }
  if (!is_ready(model)) {
    return PL_ERROR_NOT_READY;
  }
  if (index >= model->plan->input_count) {
    return PL_ERROR_INPUT_COUNT;
  }
  *tensor = model->plan->inputs[index];
  return PL_OK;
}

pl_status pl_model_output(const pl_model *model, uint32_t index, pl_tensor *tensor) {
  if (model == NULL || tensor == NULL) {
    return PL_ERROR_NULL;
  }
  if (!is_ready(model)) {
    return PL_ERROR_NOT_READY;
  }
  if (index >= model->plan->output_count) {
    return PL_ERROR_OUTPUT_COUNT;
  }
  *tensor = model->plan->outputs[index];
  return PL_OK;
}

static pl_status check_outputs(pl_model *model, const pl_tensor *outputs, uint32_t output_count) {
  const pl_plan *const plan = model->plan;
  const pl_status status =
      check_side(model, outputs, output_count, plan->outputs, plan->output_count, &output_errors);
  return status == PL_OK ? check_written(model, outputs) : status;
}

// The caller holds the plan's arena.
static pl_status begin(pl_model *model, const pl_tensor *inputs, uint32_t input_count,
                       const pl_tensor *outputs, uint32_t output_count) {
  const pl_plan *const plan = model->plan;
  pl_status status =
      check_side(model, inputs, input_count, plan->inputs, plan->input_count, &input_errors);
  if (status == PL_OK) {
    status = check_outputs(model, outputs, output_count);
  }
  if (status != PL_OK) {
    return status;
  }
  if (plan->input_rows != NULL) {
    plan->input_rows->from_tensor(plan->input_rows, inputs[0].data);
    return PL_OK;
  }
  for (uint32_t i = 0; i < plan->input_count; ++i) {
    if (inputs[i].data != plan->inputs[i].data) {
      memmove(plan->inputs[i].data, inputs[i].data, plan->inputs[i].spec.bytes);
    }
  }
  return PL_OK;
}

pl_status pl_run_begin(pl_model *model, const pl_tensor *inputs, uint32_t input_count,
                       const pl_tensor *outputs, uint32_t output_count) {
  if (model == NULL) {
    return PL_ERROR_NULL;
  }
  if (!is_ready(model)) {
    return PL_ERROR_NOT_READY;
  }
  if (!pl_plan_take(model->plan)) {
    return PL_ERROR_BUSY;
  }
  const pl_status status = begin(model, inputs, input_count, outputs, output_count);
  if (status != PL_OK) {
    pl_plan_give_back(model->plan);
  }
  return status;
}

pl_status pl_run_end(const pl_model *model, const pl_tensor *outputs, pl_status status) {
  const pl_plan *const plan = model->plan;
  for (uint32_t i = 0; i < plan->output_count && status == PL_OK; ++i) {
    if (outputs[i].data != plan->outputs[i].data) {
      memcpy(outputs[i].data, plan->outputs[i].data, plan->outputs[i].spec.bytes);
    }
  }
  pl_plan_give_back(plan);
  return status;
}

pl_status pl_model_run(pl_model *model, const pl_tensor *inputs, uint32_t input_count,
                       const pl_tensor *outputs, uint32_t output_count) {
  const pl_status status = pl_run_begin(model, inputs, input_count, outputs, output_count);
  if (status != PL_OK) {
    return status;
  }
  return pl_run_end(model, outputs, pl_plan_run(model->plan, &model->error_index));
}

pl_status pl_model_run_rows(pl_model *model, pl_row_reader read, void *user,
                            const pl_tensor *outputs, uint32_t output_count) {
  if (model == NULL || read == NULL) {
    return PL_ERROR_NULL;
  }
  if (!is_ready(model)) {
    return PL_ERROR_NOT_READY;
  }
  const pl_plan *const plan = model->plan;
  if (plan->input_rows == NULL) {
    return PL_ERROR_INPUT_COUNT;
  }
  if (!pl_plan_take(plan)) {
    return PL_ERROR_BUSY;
  }
  const pl_status status = check_outputs(model, outputs, output_count);
  if (status != PL_OK) {
    pl_plan_give_back(plan);
    return status;
  }
  *plan->input_rows->source = (pl_row_source){.read = read, .user = user};
  return pl_run_end(model, outputs, pl_plan_run(plan, &model->error_index));
}
