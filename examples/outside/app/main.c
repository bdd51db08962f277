// SPDX-License-Identifier: Apache-2.0
//
// Classifies one recorded signal.

#include <stdint.h>

#include "boards/common/print.h"
#include "both_ways_check_plan.h"
#include "firmware/runtime/model.h"

static pl_model model;

static pl_status classify(uint32_t *best) {
  pl_tensor input, output;
  pl_status status = pl_model_init(&model, &both_ways_check_plan);
  if (status == PL_OK) status = pl_model_input(&model, 0, &input);
  if (status == PL_OK) status = pl_model_output(&model, 0, &output);
  if (status != PL_OK) return status;
  int8_t *signal = input.data;
  for (uint32_t i = 0; i < input.spec.bytes; ++i) signal[i] = (int8_t)(i % 50);
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
