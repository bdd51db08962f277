// SPDX-License-Identifier: Apache-2.0
//
// Two models of one image that share the NPU. Run in turns they compute what each of them computes
// before the other has run.
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/ethos_u/this_npu.h"
#include "firmware/runtime/delegate.h"
#include "firmware/runtime/model.h"
#include "tests/ethos_u/models/digits_plan.h"
#include "tests/ethos_u/models/wide_plan.h"

enum { MOST_BYTES = 8 * 16 * 16 * 2, ROUNDS = 3, MODELS = 2 };

static ethos_u_this_npu npu;
static pl_engine engine;

// One run on inputs that only the seed says; gives what the output has of bytes.
static uint32_t run(const pl_plan *plan, uint32_t seed, uint8_t *result) {
  pl_model model;
  pl_tensor input;
  pl_tensor output;
  EXPECT_EQUAL(pl_model_init_with_engines(&model, plan, &engine, 1), PL_OK);
  EXPECT_EQUAL(pl_model_input(&model, 0, &input), PL_OK);
  EXPECT_EQUAL(pl_model_output(&model, 0, &output), PL_OK);
  uint32_t state = seed;
  for (uint32_t i = 0; i < input.spec.bytes; ++i) {
    state = state * 1664525U + 1013904223U;
    ((uint8_t *)input.data)[i] = (uint8_t)(state >> 24);
  }
  EXPECT_EQUAL(pl_model_run(&model, &input, 1, &output, 1), PL_OK);
  EXPECT(output.spec.bytes <= MOST_BYTES);
  memcpy(result, output.data, output.spec.bytes);
  return output.spec.bytes;
}

int main(void) {
  static const pl_plan *const plans[MODELS] = {&wide_plan, &digits_plan};
  static uint8_t alone[MODELS][ROUNDS][MOST_BYTES];
  static uint8_t in_turns[MOST_BYTES];
  EXPECT_EQUAL(ethos_u_open_this_npu(&npu, &engine), ETHOS_U_OK);
  for (uint32_t i = 0; i < MODELS; ++i) {
    for (uint32_t round = 0; round < ROUNDS; ++round) {
      const uint32_t bytes = run(plans[i], round, alone[i][round]);
      EXPECT(round == 0 || memcmp(alone[i][round], alone[i][round - 1], bytes) != 0);
    }
  }
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    for (uint32_t i = 0; i < MODELS; ++i) {
      const uint32_t bytes = run(plans[i], round, in_turns);
      EXPECT(memcmp(in_turns, alone[i][round], bytes) == 0);
    }
  }
  return expect_report();
}
