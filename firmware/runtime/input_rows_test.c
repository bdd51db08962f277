// SPDX-License-Identifier: Apache-2.0
// Row-streamed inputs from the caller.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/runtime/model_fixture.h"
#include "firmware/runtime/rows.h"

// A plan with a row-streamed input of three rows of two bytes. Its one step adds them up.
static uint8_t sums[2];
static pl_row_source row_source;
static const pl_input_rows input_rows = {pl_input_rows_copy, &row_source, 2};

static pl_status add_up(const pl_context *context, const pl_step *step) {
  (void)context;
  (void)step;
  memset(sums, 0, sizeof sums);
  for (uint32_t row = 0; row < 3; ++row) {
    uint8_t values[2];
    const pl_status status = row_source.read(row_source.user, row, values);
    if (status != PL_OK) {
      return status;
    }
    sums[0] = (uint8_t)(sums[0] + values[0]);
    sums[1] = (uint8_t)(sums[1] + values[1]);
  }
  return PL_OK;
}

static const pl_step add_steps[] = {{add_up, {NULL, 0}, NULL, NULL, NULL}};
static const pl_tensor row_inputs[] = {
    {{PL_DTYPE_INT8, PL_LAYOUT_ROW_MAJOR, 2, {3, 2}, 0.5f, -3, 6}, NULL},
};
static const pl_tensor row_outputs[] = {
    {{PL_DTYPE_INT8, PL_LAYOUT_ROW_MAJOR, 1, {2}, 0.25f, 4, 2}, sums},
};
PL_ARENA_TABLE static const pl_arena row_arenas[] = {{sums, 2}};
static volatile uint32_t rows_busy;
static const pl_plan plan_of_rows = {
    .steps = add_steps,
    .inputs = row_inputs,
    .outputs = row_outputs,
    .arenas = row_arenas,
    .input_rows = &input_rows,
    .busy = &rows_busy,
    .step_count = 1,
    .input_count = 1,
    .output_count = 1,
    .arena_count = 1,
    .shares_arena = 1,
};

// Rows {1, 10}, {2, 20}, {3, 30}; `user` counts them, and stops the run at a given row.
typedef struct {
  uint32_t asked;
  uint32_t fail_at;
} sensor;

static pl_status read_sensor(void *user, uint32_t row, void *to) {
  sensor *const from = user;
  if (row != from->asked || row == from->fail_at) {
    return PL_ERROR_INDEX;
  }
  ++from->asked;
  const uint8_t values[2] = {(uint8_t)(row + 1), (uint8_t)(10 * (row + 1))};
  memcpy(to, values, sizeof values);
  return PL_OK;
}

void test_input_rows(void) {
  pl_model model;
  EXPECT_EQUAL(pl_model_init(&model, &plan_of_rows), PL_OK);
  pl_tensor input;
  EXPECT_EQUAL(pl_model_input(&model, 0, &input), PL_OK);
  EXPECT(input.data == NULL && input.spec.bytes == 6);
  sensor from = {0, 3};
  EXPECT_EQUAL(pl_model_run_rows(&model, read_sensor, &from, row_outputs, 1), PL_OK);
  EXPECT(from.asked == 3 && sums[0] == 6 && sums[1] == 60);
  from = (sensor){0, 1};
  EXPECT_EQUAL(pl_model_run_rows(&model, read_sensor, &from, row_outputs, 1), PL_ERROR_INDEX);
  EXPECT(from.asked == 1 && model.error_index == 0);
  EXPECT_EQUAL(pl_model_run_rows(&model, read_sensor, &from, NULL, 1), PL_ERROR_OUTPUT_NULL);
  EXPECT_EQUAL(pl_model_run_rows(&model, read_sensor, &from, row_outputs, 0),
               PL_ERROR_OUTPUT_COUNT);
  EXPECT_EQUAL(pl_model_run_rows(&model, NULL, &from, row_outputs, 1), PL_ERROR_NULL);
  EXPECT_EQUAL(pl_model_run_rows(NULL, read_sensor, &from, row_outputs, 1), PL_ERROR_NULL);
  rows_busy = 1;
  EXPECT_EQUAL(pl_model_run_rows(&model, read_sensor, &from, row_outputs, 1), PL_ERROR_BUSY);
  rows_busy = 0;
  EXPECT(from.asked == 1);

  // A whole tensor, outside of the arena.
  uint8_t whole[] = {5, 6, 7, 8, 9, 10};
  EXPECT_EQUAL(pl_model_run(&model, &input, 1, row_outputs, 1), PL_ERROR_INPUT_NULL);
  input.data = sums;
  EXPECT_EQUAL(pl_model_run(&model, &input, 1, row_outputs, 1), PL_ERROR_INPUT_OVERLAP);
  input.data = whole;
  EXPECT_EQUAL(pl_model_run(&model, &input, 1, row_outputs, 1), PL_OK);
  EXPECT(sums[0] == 5 + 7 + 9 && sums[1] == 6 + 8 + 10);

  EXPECT_EQUAL(pl_model_init(&model, &plan), PL_OK);
  EXPECT_EQUAL(pl_model_run_rows(&model, read_sensor, &from, plan.outputs, 2),
               PL_ERROR_INPUT_COUNT);
  model.ready = 0;
  EXPECT_EQUAL(pl_model_run_rows(&model, read_sensor, &from, plan.outputs, 2), PL_ERROR_NOT_READY);
}
