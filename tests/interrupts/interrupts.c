// SPDX-License-Identifier: Apache-2.0
//
// An inference gives the same bits however often it is interrupted, also by a handler that computes
// with floating point registers, which the kernels use as well.
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "boards/common/timer.h"
#include "boards/irqs.h"
#include "firmware/runtime/model.h"
#include "tests/interrupts/motion_plan.h"

enum { RATE_HZ = 4000, INTERRUPTIONS = 40, OUTPUTS = 4, MOST_RUNS = 200000 };

static volatile uint32_t ticks;
static volatile float sum = 1.0f;

void PL_TIMER_HANDLER(void) {
  pl_timer_acknowledge();
  float part[16];
  for (uint32_t i = 0; i < 16; ++i) {
    part[i] = sum * (float)(i + 1);
  }
  for (uint32_t i = 0; i < 16; ++i) {
    sum = sum * 0.5f + part[i] * 1e-3f;
  }
  ticks += 1;
}

static pl_status run(pl_model *model, const pl_tensor *input, const pl_tensor *output) {
  for (uint32_t i = 0; i < input->spec.bytes; ++i) {
    ((int8_t *)input->data)[i] = (int8_t)(i * 37);
  }
  return pl_model_run(model, input, 1, output, 1);
}

int main(void) {
  pl_model model;
  pl_tensor input;
  pl_tensor output;
  int8_t alone[OUTPUTS] = {0};
  EXPECT_EQUAL(pl_model_init(&model, &motion_plan), PL_OK);
  EXPECT_EQUAL(pl_model_input(&model, 0, &input), PL_OK);
  EXPECT_EQUAL(pl_model_output(&model, 0, &output), PL_OK);
  EXPECT_EQUAL(output.spec.bytes, OUTPUTS);
  EXPECT_EQUAL(run(&model, &input, &output), PL_OK);
  memcpy(alone, output.data, OUTPUTS);

  EXPECT(pl_timer_start(RATE_HZ));
  uint32_t interruptions = 0;
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < MOST_RUNS && interruptions < INTERRUPTIONS; ++i) {
    const uint32_t before = ticks;
    wrong += run(&model, &input, &output) == PL_OK ? 0 : 1;
    wrong += memcmp(alone, output.data, OUTPUTS) == 0 ? 0 : 1;
    interruptions += ticks - before;
  }
  pl_timer_stop();
  EXPECT_EQUAL(wrong, 0);
  EXPECT(interruptions >= INTERRUPTIONS);
  return expect_report();
}
