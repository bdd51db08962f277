// SPDX-License-Identifier: Apache-2.0
// Every way of calling a model wrongly, and the right ones, on a plan written by hand: two inputs
// (int8 [2, 3] and float32 [2]), two steps, two outputs. Output 0 is input 0 plus one, output 1 is
// input 1 negated. The result of step 0 lies over input 0.
#include "firmware/runtime/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "boards/common/print.h"

static _Alignas(16) uint8_t arena[64];

static pl_status step_status = PL_OK;
static uint32_t steps_run = 0;

static pl_status increment(const pl_context *context, const pl_step *step) {
  (void)context;
  int8_t *const values = (int8_t *)(uintptr_t)step->data;
  for (uint32_t i = 0; i < 6; ++i) {
    values[i] = (int8_t)(values[i] + 1);
  }
  ++steps_run;
  return PL_OK;
}

static pl_status negate(const pl_context *context, const pl_step *step) {
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
static const pl_plan plan = {
    .steps = steps,
    .inputs = plan_inputs,
    .outputs = plan_outputs,
    .arenas = arenas,
    .step_count = 2,
    .input_count = 2,
    .output_count = 2,
    .arena_count = 1,
};

// Of another model in the program. Two tables, so that they must lie without a gap to be read.
static _Alignas(16) uint8_t other_arenas[3][16];
PL_ARENA_TABLE static const pl_arena one_other[] = {{other_arenas[0], 16}};
PL_ARENA_TABLE static const pl_arena more_others[] = {{other_arenas[1], 16}, {other_arenas[2], 16}};
static const pl_plan others[] = {{.arenas = one_other, .arena_count = 1},
                                 {.arenas = more_others, .arena_count = 2}};

// A caller's own buffers, with descriptors that are right until a test breaks one.
typedef struct {
  pl_model model;
  int8_t bytes[6];
  float reals[2];
  int8_t byte_results[6];
  float real_results[2];
  pl_tensor inputs[2];
  pl_tensor outputs[2];
} fixture;

static void set_up(fixture *f) {
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

static pl_status run(fixture *f) { return pl_model_run(&f->model, f->inputs, 2, f->outputs, 2); }

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

// The plan once more, in an arena that it shares; its first step tries to run models.
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
  const pl_plan other = sharing_plan(steps);
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
  // A run that fails leaves the arena free, whatever it fails at.
  EXPECT(pl_model_init(&f.model, &other) == PL_OK);
  step_status = PL_ERROR_INDEX;
  EXPECT(run(&f) == PL_ERROR_INDEX);
  step_status = PL_OK;
  f.inputs[0].spec.rank = 1;
  EXPECT(run(&f) == PL_ERROR_INPUT_RANK);
  EXPECT(busy == 0);
}

// What another model left in an arena that both share becomes an input, wherever it lies.
static void test_input_in_a_shared_arena(void) {
  const pl_plan sharing = sharing_plan(steps);
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

// Breaks one thing of a descriptor.
typedef void (*breaker)(pl_tensor *tensor);

static void break_data(pl_tensor *t) { t->data = NULL; }
static void break_dtype(pl_tensor *t) { t->spec.dtype = PL_DTYPE_INT32; }
static void break_layout(pl_tensor *t) { t->spec.layout = PL_LAYOUT_NCHW; }
static void break_rank(pl_tensor *t) { t->spec.rank += 1; }
static void break_huge_rank(pl_tensor *t) { t->spec.rank = UINT32_MAX; }
static void break_shape(pl_tensor *t) { t->spec.shape[t->spec.rank - 1] += 1; }
static void break_scale(pl_tensor *t) { t->spec.scale += 0.125f; }
static void break_scale_nan(pl_tensor *t) { t->spec.scale = __builtin_nanf(""); }
static void break_zero_point(pl_tensor *t) { t->spec.zero_point += 1; }
static void break_size(pl_tensor *t) { t->spec.bytes -= 1; }
static void break_huge_size(pl_tensor *t) { t->spec.bytes = UINT32_MAX; }
static void break_overlap(pl_tensor *t) { t->data = arena + 40; }
static void break_overlap_end(pl_tensor *t) { t->data = arena + 44; }
static void break_alignment(pl_tensor *t) { t->data = (uint8_t *)t->data + 2; }

typedef struct {
  breaker change;
  pl_status input;
  pl_status output;
} descriptor_case;

static const descriptor_case cases[] = {
    {break_data, PL_ERROR_INPUT_NULL, PL_ERROR_OUTPUT_NULL},
    {break_dtype, PL_ERROR_INPUT_DTYPE, PL_ERROR_OUTPUT_DTYPE},
    {break_layout, PL_ERROR_INPUT_LAYOUT, PL_ERROR_OUTPUT_LAYOUT},
    {break_rank, PL_ERROR_INPUT_RANK, PL_ERROR_OUTPUT_RANK},
    {break_huge_rank, PL_ERROR_INPUT_RANK, PL_ERROR_OUTPUT_RANK},
    {break_shape, PL_ERROR_INPUT_SHAPE, PL_ERROR_OUTPUT_SHAPE},
    {break_scale, PL_ERROR_INPUT_SCALE, PL_ERROR_OUTPUT_SCALE},
    {break_scale_nan, PL_ERROR_INPUT_SCALE, PL_ERROR_OUTPUT_SCALE},
    {break_zero_point, PL_ERROR_INPUT_ZERO_POINT, PL_ERROR_OUTPUT_ZERO_POINT},
    {break_size, PL_ERROR_INPUT_SIZE, PL_ERROR_OUTPUT_SIZE},
    {break_huge_size, PL_ERROR_INPUT_SIZE, PL_ERROR_OUTPUT_SIZE},
    {break_overlap, PL_ERROR_INPUT_OVERLAP, PL_ERROR_OUTPUT_OVERLAP},
    {break_overlap_end, PL_ERROR_INPUT_OVERLAP, PL_ERROR_OUTPUT_OVERLAP},
};

static void test_descriptors(void) {
  for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    for (uint32_t index = 0; index < 2; ++index) {
      fixture f;
      set_up(&f);
      cases[i].change(&f.inputs[index]);
      const pl_status input = run(&f);
      EXPECT(input == cases[i].input);
      EXPECT(f.model.error_index == index);
      set_up(&f);
      cases[i].change(&f.outputs[index]);
      const pl_status output = run(&f);
      EXPECT(output == cases[i].output);
      EXPECT(f.model.error_index == index);
      EXPECT(steps_run == 0 && arena[0] == 0x55);
      if (input != cases[i].input || output != cases[i].output) {
        pl_print(pl_status_name(input));
        pl_print(", ");
        pl_print(pl_status_name(output));
        pl_print("\n");
      }
    }
  }
}

static void test_alignment(void) {
  fixture f;
  set_up(&f);
  break_alignment(&f.inputs[1]);
  EXPECT(run(&f) == PL_ERROR_INPUT_ALIGNMENT);
  set_up(&f);
  break_alignment(&f.outputs[1]);
  EXPECT(run(&f) == PL_ERROR_OUTPUT_ALIGNMENT);
  set_up(&f);
  int8_t odd[7] = {0, 1, 2, 3, 4, 5, 6};
  f.inputs[0].data = odd + 1;  // bytes need no alignment
  EXPECT(run(&f) == PL_OK);
  EXPECT(f.byte_results[0] == 2);
}

// Elements of two bytes, and of one that are no int8.
static void test_alignment_of_other_types(void) {
  static _Alignas(16) uint8_t places[32];
  PL_ARENA_TABLE static const pl_arena place[] = {{places, 32}};
  static const pl_tensor expected[] = {
      {{PL_DTYPE_INT16, PL_LAYOUT_ROW_MAJOR, 1, {2}, 0.0f, 0, 4}, places},
      {{PL_DTYPE_BOOL, PL_LAYOUT_ROW_MAJOR, 1, {3}, 0.0f, 0, 3}, places + 16},
  };
  static const pl_plan two = {
      .inputs = expected, .input_count = 2, .arenas = place, .arena_count = 1};
  _Alignas(4) uint8_t data[8] = {0};
  pl_model model;
  EXPECT(pl_model_init(&model, &two) == PL_OK);
  pl_tensor inputs[] = {expected[0], expected[1]};
  for (uint32_t at = 0; at < 4; ++at) {
    inputs[0].data = data + at;
    inputs[1].data = data + at;
    const pl_status status = at % 2 == 0 ? PL_OK : PL_ERROR_INPUT_ALIGNMENT;
    EXPECT(pl_model_run(&model, inputs, 2, NULL, 0) == status);
    EXPECT(model.error_index == 0);
  }
}

// The place of another tensor of the model is not this tensor's place.
static void test_swapped_places(void) {
  fixture f;
  set_up(&f);
  f.inputs[1].data = arena + 32;
  EXPECT(run(&f) == PL_ERROR_INPUT_OVERLAP);
  set_up(&f);
  f.outputs[0].data = arena + 1;
  EXPECT(run(&f) == PL_ERROR_OUTPUT_OVERLAP);
  set_up(&f);
  f.outputs[1].data = arena + 48;  // right behind the arena
  EXPECT(run(&f) == PL_OK);
}

// Outputs are not written into another model's arena; inputs are read from there.
static void test_other_models(void) {
  for (uint32_t i = 0; i < 3; ++i) {
    pl_model other;
    EXPECT(pl_model_init(&other, &others[i == 0 ? 0 : 1]) == PL_OK);
    for (uint32_t index = 0; index < 2; ++index) {
      fixture f;
      set_up(&f);
      f.outputs[index].data = other_arenas[i] + 8;
      EXPECT(run(&f) == PL_ERROR_OUTPUT_OVERLAP);
      EXPECT(f.model.error_index == index && steps_run == 0);
    }
    fixture f;
    set_up(&f);
    memcpy(other_arenas[i], f.bytes, sizeof f.bytes);
    f.inputs[0].data = other_arenas[i];
    EXPECT(run(&f) == PL_OK);
    EXPECT(f.byte_results[5] == 7);
  }
}

static void test_outputs_on_each_other(void) {
  fixture f;
  set_up(&f);
  f.outputs[0].data = (uint8_t *)f.real_results + 7;
  EXPECT(run(&f) == PL_ERROR_OUTPUT_OVERLAP);
  EXPECT(f.model.error_index == 1 && steps_run == 0);
  set_up(&f);
  float both[4];
  f.outputs[1].data = both;
  f.outputs[0].data = (uint8_t *)both + 8;  // right behind it
  EXPECT(run(&f) == PL_OK);
}

// Sums of addresses wrap there.
static void test_end_of_the_address_space(void) {
  static const pl_arena last_arenas[] = {{(const uint8_t *)(UINTPTR_MAX - 47), 48}};
  pl_plan last = plan;
  last.arenas = last_arenas;
  for (uint32_t index = 0; index < 2; ++index) {
    fixture f;
    set_up(&f);
    EXPECT(pl_model_init(&f.model, &last) == PL_OK);
    f.inputs[index].data = (void *)(UINTPTR_MAX - 15);
    EXPECT(run(&f) == PL_ERROR_INPUT_OVERLAP);
    f.inputs[index].data = (void *)(UINTPTR_MAX - 51);  // reaches into it
    EXPECT(run(&f) == PL_ERROR_INPUT_OVERLAP);
    f.inputs[index].data = (void *)(UINTPTR_MAX - 3);  // fewer bytes than it has
    EXPECT(run(&f) == PL_ERROR_INPUT_SIZE);
    EXPECT(f.model.error_index == index);
    set_up(&f);
    EXPECT(pl_model_init(&f.model, &last) == PL_OK);
    f.outputs[index].data = (void *)(UINTPTR_MAX - 7);  // its last byte is the last there is
    EXPECT(run(&f) == PL_ERROR_OUTPUT_OVERLAP);
    f.outputs[index].data = (void *)(UINTPTR_MAX - 3);
    EXPECT(run(&f) == PL_ERROR_OUTPUT_SIZE);
    EXPECT(f.model.error_index == index && steps_run == 0);
  }
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

// A plan whose input of three rows of two bytes comes row by row: its one step adds them up.
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

// Rows {1, 10}, {2, 20}, {3, 30}; `user` counts them, and stops the run at the one that it is told.
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

static void test_input_by_rows(void) {
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
  EXPECT_EQUAL(pl_model_run_rows(&model, read_sensor, &from, plan_outputs, 2),
               PL_ERROR_INPUT_COUNT);
  model.ready = 0;
  EXPECT_EQUAL(pl_model_run_rows(&model, read_sensor, &from, plan_outputs, 2), PL_ERROR_NOT_READY);
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
  test_descriptors();
  test_alignment();
  test_alignment_of_other_types();
  test_swapped_places();
  test_other_models();
  test_outputs_on_each_other();
  test_end_of_the_address_space();
  test_failing_step();
  test_input_by_rows();
  test_status_names();
  return expect_report();
}
