// SPDX-License-Identifier: Apache-2.0
//
// Classifies one recorded signal.

#include <stdint.h>

#include "boards/common/print.h"
#include "both_ways_check_plan.h"
#include "firmware/runtime/model.h"

// The plan's header has the shape in memory: here the model's own, as `flip` reads it.
enum { AXES = 3, LENGTH = 64 };
_Static_assert(BOTH_WAYS_CHECK_PLAN_INPUT_0_IS_SHAPE(1, AXES, LENGTH), "layout of the input");

static pl_model model;

static pl_status classify(uint32_t *best) {
  pl_tensor input, output;
  pl_status status = pl_model_init(&model, &both_ways_check_plan);
  if (status == PL_OK) status = pl_model_input(&model, 0, &input);
  if (status == PL_OK) status = pl_model_output(&model, 0, &output);
  if (status != PL_OK) return status;
  both_ways_check_plan_input_0 *signal = input.data;
  for (uint32_t axis = 0; axis < AXES; ++axis) {
    for (uint32_t time = 0; time < LENGTH; ++time) {
      (*signal)[0][axis][time] = (int8_t)((axis * LENGTH + time) % 50);
    }
  }
  status = pl_model_run(&model, &input, 1, &output, 1);
  const int8_t *scores = output.data;
  for (uint32_t i = *best = 0; i < output.spec.bytes; ++i) {
    if (scores[i] > scores[*best]) *best = i;
  }
  return status;
}

int main(void) {
  uint32_t best;
  const pl_status status = classify(&best);
  if (status != PL_OK) {
    pl_print("PL:FAIL the model did not run\n");
    return 1;
  }
  pl_print("PL:STAT class ");
  pl_print_u32(best);
  pl_print("\nPL:PASS\n");
  return 0;
}
