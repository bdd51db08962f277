// SPDX-License-Identifier: Apache-2.0
//
// A model with two delegates on an engine from the program: equal to the reference bit for bit.
// Also without the engine, with another, and with occasional failures.
#include <string.h>

#include "boards/common/expect.h"
#include "boards/common/print.h"
#include "firmware/apps/vectors.h"
#include "firmware/runtime/split.h"
#include "tests/delegates/stand_in.h"

#ifndef REACH  // if the board's engine reaches only a part of the memory
#define REACH 0
#define REACH_SIZE 0
#endif

enum { MAX_OUTPUTS = 2, DELEGATES = 2 };

static stand_in make_handle(void) { return (stand_in){.reach = REACH, .reach_size = REACH_SIZE}; }

// Same as after a start: the memory contents are unknown.
static void forget(const pl_plan *plan) {
  for (uint32_t i = 0; i < plan->arena_count; ++i) {
    memset((void *)(uintptr_t)plan->arenas[i].base, 0xa5, plan->arenas[i].size);
  }
}

static void write_inputs(uint32_t vector) {
  const pl_plan *const plan = pl_image_vectors.plan;
  for (uint32_t i = 0; i < plan->input_count; ++i) {
    const uint8_t *const stored = pl_image_vectors.inputs[i];
    const uint32_t bytes = plan->inputs[i].spec.bytes;
    memcpy(plan->inputs[i].data, stored + (size_t)vector * bytes, bytes);
  }
}

static pl_status run(pl_model *model, uint32_t vector) {
  const pl_plan *const plan = pl_image_vectors.plan;
  write_inputs(vector);
  return pl_model_run(model, plan->inputs, plan->input_count, plan->outputs, plan->output_count);
}

static int is_equal(uint32_t vector) {
  const pl_plan *const plan = pl_image_vectors.plan;
  int equal = 1;
  for (uint32_t i = 0; i < plan->output_count; ++i) {
    const uint8_t *const stored = pl_image_vectors.outputs[i];
    const uint32_t bytes = plan->outputs[i].spec.bytes;
    equal &= memcmp(plan->outputs[i].data, stored + (size_t)vector * bytes, bytes) == 0;
  }
  return equal;
}

static uint32_t delegate_step(uint32_t number) {
  const pl_plan *const plan = pl_image_vectors.plan;
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    if (plan->steps[i].run == pl_delegate_step && number-- == 0) {
      return i;
    }
  }
  return UINT32_MAX;
}

static void test_all_vectors(void) {
  stand_in handle = make_handle();
  pl_engine engines[] = {stand_in_engine(&handle, "stand-in-1")};
  pl_model model;
  forget(pl_image_vectors.plan);
  EXPECT(pl_model_init_with_engines(&model, pl_image_vectors.plan, engines, 1) == PL_OK);
  for (uint32_t i = 0; i < pl_image_vectors.count; ++i) {
    const pl_status status = run(&model, i);
    if (status != PL_OK) {
      pl_print(pl_delegate_status_name(status));
      pl_print(": ");
      pl_print(engines[0].text);
      pl_print("\n");
    }
    EXPECT(status == PL_OK);
    EXPECT(is_equal(i));
  }
  EXPECT(pl_image_vectors.count > 0 && handle.runs == DELEGATES * pl_image_vectors.count);
}

static void test_an_engine_that_fails(void) {
  for (uint32_t number = 0; number < DELEGATES; ++number) {
    stand_in handle = make_handle();
    handle.fails_at = number + 1;
    pl_engine engines[] = {stand_in_engine(&handle, "")};
    pl_model model;
    EXPECT(pl_model_init_with_engines(&model, pl_image_vectors.plan, engines, 1) == PL_OK);
    EXPECT(run(&model, 0) == PL_ERROR_DELEGATE_RUN);
    EXPECT(model.error_index == delegate_step(number));
    EXPECT(engines[0].code == STAND_IN_FAILS);
    EXPECT(strcmp(engines[0].text, "told to fail") == 0);
    EXPECT(run(&model, 1) == PL_OK);
    EXPECT(is_equal(1));
    EXPECT(engines[0].code == 0 && engines[0].text[0] == '\0');
  }
}

static void test_no_engine(void) {
  const pl_plan *const plan = pl_image_vectors.plan;
  stand_in handle = make_handle();
  pl_engine others[] = {stand_in_engine(&handle, "stand-in-2"),
                        stand_in_engine(&handle, "stand-in-1")};
  others[1].backend = "StandInBackendToo";
  pl_model model;
  forget(plan);
  EXPECT(pl_model_init(&model, plan) == PL_OK);
  EXPECT(run(&model, 0) == PL_ERROR_DELEGATE_ENGINE);
  EXPECT(model.error_index == delegate_step(0));
  for (uint32_t count = 0; count <= 2; ++count) {
    EXPECT(pl_model_init_with_engines(&model, plan, others, count) == PL_ERROR_DELEGATE_ENGINE);
    EXPECT(model.error_index == delegate_step(0));
    EXPECT(run(&model, 0) == PL_ERROR_NOT_READY);
  }
  // Engines of an earlier start are gone too.
  EXPECT(pl_model_init(&model, plan) == PL_OK);
  EXPECT(run(&model, 0) == PL_ERROR_DELEGATE_ENGINE);
  EXPECT(handle.runs == 0);
}

static void test_one_engine_of_several(void) {
  stand_in handle = make_handle();
  stand_in other = make_handle();
  pl_engine engines[] = {stand_in_engine(&other, "stand-in-2"),
                         stand_in_engine(&handle, "stand-in-1")};
  pl_model model;
  EXPECT(pl_model_init_with_engines(&model, pl_image_vectors.plan, engines, 2) == PL_OK);
  EXPECT(run(&model, 0) == PL_OK && is_equal(0));
  EXPECT(handle.runs == DELEGATES && other.runs == 0);
}

static pl_status start(pl_run *split, pl_model *model, uint32_t vector) {
  const pl_plan *const plan = pl_image_vectors.plan;
  write_inputs(vector);
  return pl_model_start(split, model, plan->inputs, plan->input_count, plan->outputs,
                        plan->output_count);
}

// Any other user of the plan gets an error, and nothing of the run is touched.
static void expect_busy(pl_model *model, pl_run *split) {
  const pl_plan *const plan = pl_image_vectors.plan;
  pl_model other = *model;
  pl_run second = {0};
  EXPECT(pl_model_run(&other, plan->inputs, plan->input_count, plan->outputs, plan->output_count) ==
         PL_ERROR_BUSY);
  EXPECT(pl_model_start(&second, &other, plan->inputs, plan->input_count, plan->outputs,
                        plan->output_count) == PL_ERROR_BUSY);
  EXPECT(pl_model_start(split, model, plan->inputs, plan->input_count, plan->outputs,
                        plan->output_count) == PL_ERROR_BUSY);
  EXPECT(pl_model_wait(&second) == PL_ERROR_BUSY);
  EXPECT(pl_model_init(&other, plan) == PL_ERROR_BUSY);
  EXPECT(pl_model_init_with_engines(&other, plan, NULL, 0) == PL_ERROR_BUSY);
  EXPECT(pl_model_reset(model) == PL_ERROR_BUSY);
}

static void test_in_parts(void) {
  enum { POLLS = 3 };
  stand_in handle = make_handle();
  handle.polls = POLLS;
  pl_engine engines[] = {stand_in_split_engine(&handle, "stand-in-1")};
  pl_model model;
  pl_run split = {0};
  EXPECT(pl_model_init_with_engines(&model, pl_image_vectors.plan, engines, 1) == PL_OK);
  for (uint32_t i = 0; i < pl_image_vectors.count; ++i) {
    EXPECT(start(&split, &model, i) == PL_OK);
    EXPECT(handle.runs == DELEGATES * i);
    bool ended = false;
    for (uint32_t poll = 1; poll <= DELEGATES * (POLLS + 1); ++poll) {
      EXPECT(!ended);
      expect_busy(&model, &split);
      EXPECT(pl_model_poll(&split, &ended) == PL_OK);
      EXPECT(handle.runs == DELEGATES * i + poll / (POLLS + 1));
    }
    EXPECT(ended && is_equal(i));
    // The end stays the end.
    EXPECT(pl_model_poll(&split, &ended) == PL_OK && ended);
    EXPECT(pl_model_wait(&split) == PL_OK);
    EXPECT(handle.runs == DELEGATES * (i + 1));
    // Waiting takes no polls, and may begin at any of them.
    EXPECT(start(&split, &model, i) == PL_OK);
    handle.runs -= DELEGATES;
    EXPECT(i % 2 == 0 || (pl_model_poll(&split, &ended) == PL_OK && !ended));
    EXPECT(pl_model_wait(&split) == PL_OK && is_equal(i));
  }
}

// Failures by the number of the delegate, and by its start or its end.
static void test_parts_that_fail(void) {
  for (uint32_t kind = 0; kind < 2 * DELEGATES; ++kind) {
    const uint32_t number = kind / 2;
    stand_in handle = make_handle();
    *(kind % 2 == 0 ? &handle.fails_at : &handle.refused_at) = number + 1;
    const pl_status expected = kind % 2 == 0 ? PL_ERROR_DELEGATE_RUN : PL_ERROR_DELEGATE_PAYLOAD;
    pl_engine engines[] = {stand_in_split_engine(&handle, "")};
    pl_model model;
    pl_run split = {0};
    EXPECT(pl_model_init_with_engines(&model, pl_image_vectors.plan, engines, 1) == PL_OK);
    const pl_status status = start(&split, &model, 0);
    EXPECT(status == (kind == 1 ? expected : PL_OK));
    bool ended = false;
    if (kind >= 2) {
      EXPECT(pl_model_poll(&split, &ended) == (kind == 3 ? expected : PL_OK));
      EXPECT(ended == (kind == 3));
    }
    EXPECT(pl_model_wait(&split) == expected);
    EXPECT(pl_model_poll(&split, &ended) == expected && ended);
    EXPECT(model.error_index == delegate_step(number));
    EXPECT(engines[0].code == (kind % 2 == 0 ? STAND_IN_FAILS : STAND_IN_REFUSES));
    EXPECT(start(&split, &model, 1) == PL_OK && pl_model_wait(&split) == PL_OK && is_equal(1));
    EXPECT(engines[0].code == 0 && engines[0].text[0] == '\0');
    EXPECT(run(&model, 2) == PL_OK && is_equal(2));
  }
}

// An engine with a single call runs in the start. A plan without delegates does the same.
static void test_parts_without_an_engine_of_parts(void) {
  stand_in handle = make_handle();
  pl_engine engines[] = {stand_in_engine(&handle, "")};
  pl_model model;
  pl_run split = {0};
  bool ended = false;
  EXPECT(pl_model_init_with_engines(&model, pl_image_vectors.plan, engines, 1) == PL_OK);
  EXPECT(start(&split, &model, 0) == PL_OK && is_equal(0));
  EXPECT(pl_model_poll(&split, &ended) == PL_OK && ended);
  const pl_plan *const plan = stand_in_regions[0].plan;
  EXPECT(pl_model_init(&model, plan) == PL_OK);
  EXPECT(pl_model_start(&split, &model, plan->inputs, plan->input_count, plan->outputs,
                        plan->output_count) == PL_OK);
  EXPECT(pl_model_wait(&split) == PL_OK);
}

static void test_parts_of_nothing(void) {
  const pl_plan *const plan = pl_image_vectors.plan;
  stand_in handle = make_handle();
  pl_engine engines[] = {stand_in_split_engine(&handle, "")};
  pl_model model = {0};
  pl_run split = {0};
  bool ended = false;
  EXPECT(pl_model_poll(&split, &ended) == PL_ERROR_NOT_READY);
  EXPECT(pl_model_wait(&split) == PL_ERROR_NOT_READY);
  EXPECT(pl_model_poll(NULL, &ended) == PL_ERROR_NULL);
  EXPECT(pl_model_poll(&split, NULL) == PL_ERROR_NULL);
  EXPECT(pl_model_wait(NULL) == PL_ERROR_NULL);
  EXPECT(start(NULL, &model, 0) == PL_ERROR_NULL);
  EXPECT(start(&split, NULL, 0) == PL_ERROR_NULL);
  EXPECT(start(&split, &model, 0) == PL_ERROR_NOT_READY);
  EXPECT(pl_model_init_with_engines(&model, plan, engines, 1) == PL_OK);
  EXPECT(pl_model_start(&split, &model, NULL, plan->input_count, plan->outputs,
                        plan->output_count) == PL_ERROR_INPUT_NULL);
  EXPECT(pl_model_wait(&split) == PL_ERROR_INPUT_NULL);
  EXPECT(run(&model, 0) == PL_OK && is_equal(0));
}

static void test_null(void) {
  stand_in handle = make_handle();
  pl_engine engine = stand_in_engine(&handle, "");
  pl_model model;
  EXPECT(pl_model_init_with_engines(NULL, pl_image_vectors.plan, &engine, 1) == PL_ERROR_NULL);
  EXPECT(pl_model_init_with_engines(&model, NULL, &engine, 1) == PL_ERROR_NULL);
  EXPECT(pl_model_init_with_engines(&model, pl_image_vectors.plan, NULL, 1) == PL_ERROR_NULL);
}

static void test_a_plan_without_delegates(void) {
  pl_model model;
  EXPECT(pl_model_init_with_engines(&model, stand_in_regions[0].plan, NULL, 0) == PL_OK);
}

static void test_names(void) {
  EXPECT(strcmp(pl_delegate_status_name(PL_ERROR_DELEGATE_ENGINE), "PL_ERROR_DELEGATE_ENGINE") ==
         0);
  EXPECT(strcmp(pl_delegate_status_name(PL_ERROR_DELEGATE_PAYLOAD), "PL_ERROR_DELEGATE_PAYLOAD") ==
         0);
  EXPECT(strcmp(pl_delegate_status_name(PL_ERROR_DELEGATE_RUN), "PL_ERROR_DELEGATE_RUN") == 0);
  EXPECT(strcmp(pl_delegate_status_name(PL_ERROR_INPUT_NULL), "PL_ERROR_INPUT_NULL") == 0);
}

int main(void) {
  test_no_engine();
  test_all_vectors();
  test_an_engine_that_fails();
  test_one_engine_of_several();
  test_in_parts();
  test_parts_that_fail();
  test_parts_without_an_engine_of_parts();
  test_parts_of_nothing();
  test_null();
  test_a_plan_without_delegates();
  test_names();
  return expect_report();
}
