// SPDX-License-Identifier: Apache-2.0
// A caller's buffers: every possible error of a descriptor or a position.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "boards/common/print.h"
#include "firmware/runtime/model_fixture.h"

// Arenas of other models in the program. There are two tables, so the test fails if the linker
// leaves a gap between them.
static _Alignas(16) uint8_t other_arenas[3][16];
PL_ARENA_TABLE static const pl_arena one_other[] = {{other_arenas[0], 16}};
PL_ARENA_TABLE static const pl_arena more_others[] = {{other_arenas[1], 16}, {other_arenas[2], 16}};
static const pl_plan others[] = {{.arenas = one_other, .arena_count = 1},
                                 {.arenas = more_others, .arena_count = 2}};

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

// Elements of two bytes, and one-byte elements other than int8.
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
  f.outputs[1].data = arena + 48;  // directly after the arena
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
  f.outputs[0].data = (uint8_t *)both + 8;  // directly after it
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

void test_buffers(void) {
  test_descriptors();
  test_alignment();
  test_alignment_of_other_types();
  test_swapped_places();
  test_other_models();
  test_outputs_on_each_other();
  test_end_of_the_address_space();
}
