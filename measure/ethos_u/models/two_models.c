// SPDX-License-Identifier: Apache-2.0
//
// Two models of one image with a shared NPU and arena. Run in turns they compute the same results
// as alone. Starting one during a run of the other returns an error.
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/ethos_u/this_npu.h"
#include "firmware/runtime/delegate.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/split.h"
#include "measure/ethos_u/models/digits_plan.h"
#include "measure/ethos_u/models/wide_plan.h"

enum { MOST_BYTES = 8 * 16 * 16 * 2, ROUNDS = 3, MODELS = 2 };

static ethos_u_this_npu npu;
static pl_engine engine;
static pl_model models[MODELS];

// One run on inputs from the seed, while the other model tries to run. Returns the output's bytes.
static uint32_t run(uint32_t index, uint32_t seed, uint8_t *result) {
  static pl_run split;
  static pl_run refused;
  pl_tensor input;
  pl_tensor output;
  pl_tensor others[2];
  pl_model *const other = &models[1 - index];
  EXPECT_EQUAL(pl_model_input(&models[index], 0, &input), PL_OK);
  EXPECT_EQUAL(pl_model_output(&models[index], 0, &output), PL_OK);
  EXPECT_EQUAL(pl_model_input(other, 0, &others[0]), PL_OK);
  EXPECT_EQUAL(pl_model_output(other, 0, &others[1]), PL_OK);
  uint32_t state = seed;
  for (uint32_t i = 0; i < input.spec.bytes; ++i) {
    state = state * 1664525U + 1013904223U;
    ((uint8_t *)input.data)[i] = (uint8_t)(state >> 24);
  }
  EXPECT_EQUAL(pl_model_start(&split, &models[index], &input, 1, &output, 1), PL_OK);
  EXPECT_EQUAL(pl_model_start(&refused, other, &others[0], 1, &others[1], 1), PL_ERROR_BUSY);
  EXPECT_EQUAL(pl_model_run(other, &others[0], 1, &others[1], 1), PL_ERROR_BUSY);
  EXPECT_EQUAL(pl_model_wait(&split), PL_OK);
  EXPECT(output.spec.bytes <= MOST_BYTES);
  memcpy(result, output.data, output.spec.bytes);
  return output.spec.bytes;
}

int main(void) {
  static const pl_plan *const plans[MODELS] = {&wide_plan, &digits_plan};
  static uint8_t alone[MODELS][ROUNDS][MOST_BYTES];
  static uint8_t in_turns[MOST_BYTES];
  EXPECT(wide_plan.shares_arena != 0 && digits_plan.shares_arena != 0);
  EXPECT(wide_plan.arenas[0].base == digits_plan.arenas[0].base);
  EXPECT_EQUAL(ethos_u_open_this_npu(&npu, &engine), ETHOS_U_OK);
  for (uint32_t i = 0; i < MODELS; ++i) {
    EXPECT_EQUAL(pl_model_init_with_engines(&models[i], plans[i], &engine, 1), PL_OK);
  }
  for (uint32_t i = 0; i < MODELS; ++i) {
    for (uint32_t round = 0; round < ROUNDS; ++round) {
      const uint32_t bytes = run(i, round, alone[i][round]);
      EXPECT(round == 0 || memcmp(alone[i][round], alone[i][round - 1], bytes) != 0);
    }
  }
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    for (uint32_t i = 0; i < MODELS; ++i) {
      const uint32_t bytes = run(i, round, in_turns);
      EXPECT(memcmp(in_turns, alone[i][round], bytes) == 0);
    }
  }
  return expect_report();
}
