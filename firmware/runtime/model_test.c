// SPDX-License-Identifier: Apache-2.0
// Every way of calling a model wrongly, and the right ones.
#include "firmware/runtime/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/runtime/model_fixture.h"

static void test_own_buffers(void) {
  fixture f;
  set_up(&f);
  EXPECT(run(&f) == PL_OK);
  EXPECT(steps_run == 2);
  EXPECT(f.byte_results[0] == 2 && f.byte_results[5] == 7);
  EXPECT(f.real_results[0] == -1.5f && f.real_results[1] == 2.5f);
  EXPECT(f.bytes[0] == 1);  // only read
  EXPECT(run(&f) == PL_OK);
  EXPECT(f.byte_results[0] == 2);
}

static void test_in_place_buffers(void) {
  fixture f;
  set_up(&f);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT(pl_model_input(&f.model, i, &f.inputs[i]) == PL_OK);
    EXPECT(pl_model_output(&f.model, i, &f.outputs[i]) == PL_OK);
  }
  EXPECT(f.inputs[0].data == arena && f.outputs[1].data == arena + 32);
  memcpy(f.inputs[0].data, f.bytes, sizeof f.bytes);
  memcpy(f.inputs[1].data, f.reals, sizeof f.reals);
  EXPECT(run(&f) == PL_OK);
  EXPECT(((const int8_t *)f.outputs[0].data)[5] == 7);
  EXPECT(((const float *)f.outputs[1].data)[1] == 2.5f);
}

// A second copy of the plan, in an arena it shares; its first step tries to run models.
static volatile uint32_t busy;
static pl_model *entered;
static pl_status status_inside[3];

static pl_status enter(const pl_context *context, const pl_step *step) {
  fixture *const f = (fixture *)(uintptr_t)step->params;
  status_inside[0] = pl_model_run(entered, f->inputs, 2, f->outputs, 2);
  status_inside[1] = pl_model_reset(entered);
  status_inside[2] = pl_model_init(entered, entered->plan);
  return increment(context, step);
}

static fixture inside;

// A program's mutex, which one thread may take several times.
static int32_t locks;
static int32_t most_locks;
void pl_lock(void) {
  locks += 1;
  most_locks = locks > most_locks ? locks : most_locks;
}
void pl_unlock(void) { locks -= 1; }

static const pl_step entering_steps[] = {
    {enter, {NULL, 0}, &inside, NULL, arena},
    {negate, {arena + 32, 8}, NULL, NULL, arena + 16},
};

static pl_plan sharing_plan(const pl_step *its_steps) {
  pl_plan sharing = plan;
  sharing.steps = its_steps;
  sharing.busy = &busy;
  sharing.shares_arena = 1;
  return sharing;
}

static void test_busy(void) {
  fixture f;
  set_up(&f);
  set_up(&inside);
  const pl_plan outer = sharing_plan(entering_steps);
  const pl_plan other = sharing_plan(plan.steps);
  const pl_plan *const others_and_itself[] = {&other, &outer};
  for (uint32_t i = 0; i < 2; ++i) {
    pl_model other_model;
    entered = &other_model;
    EXPECT(pl_model_init(&other_model, others_and_itself[i]) == PL_OK);
    EXPECT(pl_model_init(&f.model, &outer) == PL_OK);
    steps_run = 0;
    EXPECT(run(&f) == PL_OK);
    EXPECT(steps_run == 2);
    for (uint32_t call = 0; call < 3; ++call) {
      EXPECT(status_inside[call] == PL_ERROR_BUSY);
    }
    EXPECT(f.byte_results[0] == 2 && f.real_results[0] == -1.5f);
    EXPECT(pl_model_reset(&other_model) == PL_OK);
  }
  // A failed run leaves the arena free, for every kind of failure.
  EXPECT(pl_model_init(&f.model, &other) == PL_OK);
  step_status = PL_ERROR_INDEX;
  EXPECT(run(&f) == PL_ERROR_INDEX);
  step_status = PL_OK;
  f.inputs[0].spec.rank = 1;
  EXPECT(run(&f) == PL_ERROR_INPUT_RANK);
  EXPECT(busy == 0);
  // A run inside of another one asked for the lock, too; all have given it back.
  EXPECT(most_locks == 2);
  EXPECT(locks == 0);
}

// Data left by another model in a shared arena become an input, at any position.
static void test_input_in_a_shared_arena(void) {
  const pl_plan sharing = sharing_plan(plan.steps);
  for (uint32_t at = 0; at < 48; ++at) {
    fixture f;
    set_up(&f);
    EXPECT(pl_model_init(&f.model, &sharing) == PL_OK);
    memcpy(arena + at, f.bytes, sizeof f.bytes);
    f.inputs[0].data = arena + at;
    const bool touches_other_input = at + sizeof f.bytes > 16 && at < 24;
    EXPECT(run(&f) == (touches_other_input ? PL_ERROR_INPUT_OVERLAP : PL_OK));
    EXPECT(touches_other_input || (f.byte_results[0] == 2 && f.byte_results[5] == 7));
    // Outputs may not.
    set_up(&f);
    EXPECT(pl_model_init(&f.model, &sharing) == PL_OK);
    f.outputs[0].data = arena + at;
    EXPECT(run(&f) == (at == 0 ? PL_OK : PL_ERROR_OUTPUT_OVERLAP));
  }
}

static void test_checksum(void) {
  // The check value of CRC-32 is that of these nine bytes.
  uint8_t digits[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  const pl_constant items[] = {{digits, 4}, {digits + 4, 0}, {digits + 4, 5}};
  const pl_constants constants = {pl_constants_check, items, 3, 0xcbf43926u};
  const pl_constants none = {pl_constants_check, NULL, 0, 0};
  pl_plan checked = plan;
  pl_model model;
  EXPECT(pl_model_init(&model, &checked) == PL_OK);
  EXPECT(pl_model_check(&model) == PL_ERROR_NO_CHECKSUM);
  checked.constants = &none;
  EXPECT(pl_model_check(&model) == PL_OK);
  checked.constants = &constants;
  EXPECT(pl_model_check(&model) == PL_OK);
  for (uint32_t bit = 0; bit < 8 * sizeof digits; ++bit) {
    digits[bit / 8] = (uint8_t)(digits[bit / 8] ^ 1u << bit % 8);
    EXPECT(pl_model_check(&model) == PL_ERROR_WEIGHTS);
    digits[bit / 8] = (uint8_t)(digits[bit / 8] ^ 1u << bit % 8);
  }
  EXPECT(pl_model_check(&model) == PL_OK);
  const pl_model zeros = {0};
  EXPECT(pl_model_check(&zeros) == PL_ERROR_NOT_READY);
  EXPECT(pl_model_check(NULL) == PL_ERROR_NULL);
}

static void test_not_ready(void) {
  fixture f;
  set_up(&f);
  pl_tensor tensor;
  pl_model zeros = {0};
  pl_model garbage;
  memset(&garbage, 0xa5, sizeof garbage);
  EXPECT(pl_model_run(&zeros, f.inputs, 2, f.outputs, 2) == PL_ERROR_NOT_READY);
  EXPECT(pl_model_run(&garbage, f.inputs, 2, f.outputs, 2) == PL_ERROR_NOT_READY);
  EXPECT(pl_model_input(&zeros, 0, &tensor) == PL_ERROR_NOT_READY);
  EXPECT(pl_model_output(&garbage, 0, &tensor) == PL_ERROR_NOT_READY);
  EXPECT(steps_run == 0);
}

static void test_null(void) {
  fixture f;
  set_up(&f);
  pl_tensor tensor;
  EXPECT(pl_model_init(NULL, &plan) == PL_ERROR_NULL);
  pl_model model = {0};
  EXPECT(pl_model_init(&model, NULL) == PL_ERROR_NULL);
  EXPECT(pl_model_run(&model, f.inputs, 2, f.outputs, 2) == PL_ERROR_NOT_READY);
  EXPECT(pl_model_input(NULL, 0, &tensor) == PL_ERROR_NULL);
  EXPECT(pl_model_input(&f.model, 0, NULL) == PL_ERROR_NULL);
  EXPECT(pl_model_output(NULL, 0, &tensor) == PL_ERROR_NULL);
  EXPECT(pl_model_output(&f.model, 0, NULL) == PL_ERROR_NULL);
  EXPECT(pl_model_run(NULL, f.inputs, 2, f.outputs, 2) == PL_ERROR_NULL);
  EXPECT(pl_model_run(&f.model, NULL, 2, f.outputs, 2) == PL_ERROR_INPUT_NULL);
  EXPECT(pl_model_run(&f.model, f.inputs, 2, NULL, 2) == PL_ERROR_OUTPUT_NULL);
  EXPECT(steps_run == 0);
}

static void test_count(void) {
  fixture f;
  set_up(&f);
  pl_tensor tensor;
  EXPECT(pl_model_input(&f.model, 2, &tensor) == PL_ERROR_INPUT_COUNT);
  EXPECT(pl_model_output(&f.model, UINT32_MAX, &tensor) == PL_ERROR_OUTPUT_COUNT);
  EXPECT(pl_model_run(&f.model, f.inputs, 1, f.outputs, 2) == PL_ERROR_INPUT_COUNT);
  EXPECT(pl_model_run(&f.model, f.inputs, 3, f.outputs, 2) == PL_ERROR_INPUT_COUNT);
  EXPECT(pl_model_run(&f.model, f.inputs, 2, f.outputs, 0) == PL_ERROR_OUTPUT_COUNT);
  EXPECT(steps_run == 0);
}

static void test_failing_step(void) {
  fixture f;
  set_up(&f);
  step_status = PL_ERROR_SCRATCH_SIZE;
  EXPECT(run(&f) == PL_ERROR_SCRATCH_SIZE);
  EXPECT(f.model.error_index == 1);
  EXPECT(f.byte_results[0] == 0);  // outputs are not touched
  step_status = PL_OK;
  EXPECT(run(&f) == PL_OK);
}

static void test_status_names(void) {
  EXPECT(strcmp(pl_status_name(PL_OK), "PL_OK") == 0);
  EXPECT(strcmp(pl_status_name(PL_ERROR_INPUT_OVERLAP), "PL_ERROR_INPUT_OVERLAP") == 0);
  EXPECT(strcmp(pl_status_name((pl_status)200), "PL_ERROR_UNKNOWN") == 0);
}

int main(void) {
  test_own_buffers();
  test_in_place_buffers();
  test_busy();
  test_input_in_a_shared_arena();
  test_checksum();
  test_not_ready();
  test_null();
  test_count();
  test_failing_step();
  test_buffers();
  test_input_rows();
  test_status_names();
  return expect_report();
}
