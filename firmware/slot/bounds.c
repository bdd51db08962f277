// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/bounds.h"

#include <stddef.h>

#include "kernels/common/dtype.h"

uint32_t pl_plus(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

uint32_t pl_times(uint32_t a, uint32_t b) {
  const uint64_t product = (uint64_t)a * b;
  return product > UINT32_MAX ? UINT32_MAX : (uint32_t)product;
}

uint32_t pl_up(uint32_t a, uint32_t of) { return pl_times(pl_plus(a, of - 1) / of, of); }

static bool is_in(const void *data, uint32_t count, uint32_t size, const uint8_t *base,
                  uint32_t base_bytes) {
  const uint32_t bytes = pl_times(count, size);
  const uintptr_t offset = (uintptr_t)data - (uintptr_t)base;
  return ((uintptr_t)data & (size - 1)) == 0 && offset <= base_bytes &&
         bytes <= base_bytes - offset;
}

bool pl_is_writable(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size) {
  return is_in(data, count, size, bounds->arena, bounds->arena_bytes);
}

bool pl_is_constant(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size) {
  return is_in(data, count, size, bounds->package, bounds->package_bytes) ||
         is_in(data, count, size, bounds->tables, bounds->table_bytes);
}

bool pl_is_readable(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size) {
  return pl_is_writable(bounds, data, count, size) || pl_is_constant(bounds, data, count, size);
}

// A table of structs, aligned as pointers are.
static bool is_table(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size) {
  return ((uintptr_t)data & (sizeof(void *) - 1)) == 0 &&
         is_in(data, pl_times(count, size), 1, bounds->tables, bounds->table_bytes);
}

static bool is_tensor(const pl_bounds *bounds, const pl_tensor *tensor, bool is_input) {
  const pl_tensor_spec *const spec = &tensor->spec;
  const uint32_t size = pl_dtype_size(spec->dtype);
  if ((uint32_t)spec->dtype > PL_DTYPE_BOOL || spec->rank > PL_MAX_RANK) return false;
  uint32_t count = 1;
  for (uint32_t i = 0; i < spec->rank; ++i) {
    if (spec->shape[i] < 1) return false;
    count = pl_times(count, (uint32_t)spec->shape[i]);
  }
  return pl_times(count, size) == spec->bytes &&
         (is_input ? pl_is_writable(bounds, tensor->data, count, size)
                   : pl_is_readable(bounds, tensor->data, count, size));
}

static bool are_tensors(const pl_bounds *bounds, const pl_tensor *tensors, uint32_t count,
                        bool is_input) {
  if (!is_table(bounds, tensors, count, sizeof *tensors)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_tensor(bounds, &tensors[i], is_input)) return false;
  }
  return true;
}

static bool are_states(const pl_bounds *bounds, const pl_states *states) {
  if (states == NULL) return true;
  if (!is_table(bounds, states, 1, sizeof *states) ||
      !is_table(bounds, states->items, states->count, sizeof *states->items)) {
    return false;
  }
  for (uint32_t i = 0; i < states->count; ++i) {
    const pl_state *const state = &states->items[i];
    if (!pl_is_writable(bounds, state->data, state->bytes, 1) ||
        (state->initial != NULL && !pl_is_constant(bounds, state->initial, state->bytes, 1))) {
      return false;
    }
  }
  return true;
}

static bool are_arenas(const pl_bounds *bounds, const pl_arena *arenas, uint32_t count) {
  if (!is_table(bounds, arenas, count, sizeof *arenas)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!pl_is_writable(bounds, arenas[i].base, arenas[i].size, 1)) return false;
  }
  return true;
}

static bool is_call(const pl_bounds *bounds, const pl_step *step, const pl_slot_kernels *kernels) {
  if (!pl_is_writable(bounds, step->context.scratch, step->context.scratch_size, 1) &&
      step->context.scratch_size != 0) {
    return false;
  }
  if (((uintptr_t)step->context.scratch & 15) != 0) return false;
  for (uint32_t i = 0; i < kernels->count; ++i) {
    if (step->run == kernels->kernels[i].run) {
      return pl_call_is_inside(bounds, step, kernels->kernels[i].code);
    }
  }
  return false;
}

bool pl_plan_is_inside(const pl_bounds *bounds, const pl_plan *plan,
                       const pl_slot_kernels *kernels) {
  if (!is_table(bounds, plan, 1, sizeof *plan) || plan->constants != NULL ||
      plan->input_rows != NULL || !are_arenas(bounds, plan->arenas, plan->arena_count) ||
      !is_table(bounds, plan->steps, plan->step_count, sizeof *plan->steps) ||
      !are_tensors(bounds, plan->inputs, plan->input_count, true) ||
      !are_tensors(bounds, plan->outputs, plan->output_count, false) ||
      !are_states(bounds, plan->states)) {
    return false;
  }
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    if (!is_call(bounds, &plan->steps[i], kernels)) return false;
  }
  return true;
}
