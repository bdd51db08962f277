// SPDX-License-Identifier: Apache-2.0
// State of a model between runs: its first value at the start and after a reset, on a handwritten
// plan.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/runtime/model.h"

// A sum of all inputs so far, and a second, unchanged state.
static _Alignas(16) int8_t kept[32];

static pl_status accumulate(const pl_context *context, const pl_step *step) {
  (void)context;
  (void)step;
  kept[16] = (int8_t)(kept[16] + kept[0]);
  return PL_OK;
}

static void test_plan_with_state(void) {
  PL_ARENA_TABLE static const pl_arena place[] = {{(const uint8_t *)kept, 32}};
  static const int8_t initial[] = {5, -6};
  static const pl_state table[] = {{kept + 16, initial, 2, 0}, {kept + 20, NULL, 3, 0xf9}};
  static const pl_states states = {pl_states_reset, table, 2};
  static const pl_step sum[] = {{accumulate, {NULL, 0}, NULL, NULL, NULL}};
  static const pl_tensor input[] = {
      {{PL_DTYPE_INT8, PL_LAYOUT_ROW_MAJOR, 1, {1}, 0.5f, 0, 1}, kept}};
  static const pl_plan stateful = {.steps = sum,
                                   .inputs = input,
                                   .arenas = place,
                                   .states = &states,
                                   .step_count = 1,
                                   .input_count = 1,
                                   .arena_count = 1};
  memset(kept, 0x55, sizeof kept);
  pl_model model;
  memset(&model, 0, sizeof model);
  EXPECT(pl_model_reset(&model) == PL_ERROR_NOT_READY && pl_model_reset(NULL) == PL_ERROR_NULL);
  EXPECT(kept[16] == 0x55);
  for (uint32_t sequence = 0; sequence < 3; ++sequence) {
    EXPECT((sequence == 0 ? pl_model_init(&model, &stateful) : pl_model_reset(&model)) == PL_OK);
    EXPECT(kept[16] == 5 && kept[17] == -6 && kept[18] == 0x55);
    EXPECT(kept[19] == 0x55 && kept[20] == -7 && kept[22] == -7 && kept[23] == 0x55);
    for (int8_t i = 1; i <= 4; ++i) {
      kept[0] = i;
      EXPECT(pl_model_run(&model, input, 1, NULL, 0) == PL_OK);
    }
    EXPECT(kept[16] == 15);
    EXPECT(pl_model_run(&model, NULL, 0, NULL, 0) == PL_ERROR_INPUT_COUNT && kept[16] == 15);
  }
}

static void test_plan_without_state(void) {
  PL_ARENA_TABLE static const pl_arena place[] = {{(const uint8_t *)kept, 32}};
  static const pl_plan stateless = {.arenas = place, .arena_count = 1};
  memset(kept, 0x55, sizeof kept);
  pl_model model;
  EXPECT(pl_model_init(&model, &stateless) == PL_OK && pl_model_reset(&model) == PL_OK);
  for (uint32_t i = 0; i < sizeof kept; ++i) {
    EXPECT(kept[i] == 0x55);
  }
}

int main(void) {
  test_plan_with_state();
  test_plan_without_state();
  return expect_report();
}
