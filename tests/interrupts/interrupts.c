// SPDX-License-Identifier: Apache-2.0
//
// An inference gives the same bits with any number of interrupts. The handler may compute with
// floating point registers, used by the kernels as well. A handler may run the same model. During
// another run it gets PL_ERROR_BUSY, and between two runs it gets the same bits.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "boards/common/timer.h"
#include "boards/irqs.h"
#include "firmware/runtime/model.h"
#include "tests/interrupts/motion_plan.h"

enum {
  RATE_HZ = 4000,
  INTERRUPTIONS = 40,
  OUTPUTS = 4,
  MOST_INPUT_BYTES = 2048,
  MOST_RUNS = 200000,
  TICKS_A_RUN = 8,  // of the handler, so that the program continues after a run of several ticks
  HANDLER_RUNS = 10,
};

static volatile uint32_t ticks;
static volatile float sum = 1.0f;

static pl_model model;
static int8_t input_data[MOST_INPUT_BYTES];
static int8_t alone[OUTPUTS];
// Descriptors with data of the handler's own; null while it runs nothing.
static const pl_tensor *volatile handler_input;
static pl_tensor handler_output;
static volatile uint32_t handler_runs;
static volatile uint32_t busy_runs;
static volatile uint32_t wrong_in_handler;
static uint32_t wrong;

static void run_in_handler(const pl_tensor *input) {
  const pl_status status = pl_model_run(&model, input, 1, &handler_output, 1);
  if (status == PL_OK) {
    handler_runs += 1;
    wrong_in_handler += memcmp(alone, handler_output.data, OUTPUTS) == 0 ? 0 : 1;
  } else {
    busy_runs += 1;
    wrong_in_handler += status == PL_ERROR_BUSY ? 0 : 1;
  }
}

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
  if (handler_input != NULL && ticks % TICKS_A_RUN == 0) {
    run_in_handler(handler_input);
  }
}

static void run(const pl_tensor *input, const pl_tensor *output) {
  wrong += pl_model_run(&model, input, 1, output, 1) == PL_OK ? 0 : 1;
  wrong += memcmp(alone, output->data, OUTPUTS) == 0 ? 0 : 1;
}

static void test_interrupted_runs(const pl_tensor *input, const pl_tensor *output) {
  uint32_t interruptions = 0;
  for (uint32_t i = 0; i < MOST_RUNS && interruptions < INTERRUPTIONS; ++i) {
    const uint32_t before = ticks;
    run(input, output);
    interruptions += ticks - before;
  }
  EXPECT(interruptions >= INTERRUPTIONS);
}

static void test_runs_in_the_handler(const pl_tensor *input, const pl_tensor *output) {
  static int8_t result[OUTPUTS];
  handler_output = *output;
  handler_output.data = result;
  handler_input = input;
  for (uint32_t i = 0; i < MOST_RUNS && (handler_runs < HANDLER_RUNS || busy_runs == 0); ++i) {
    for (const uint32_t before = ticks; ticks - before < TICKS_A_RUN;) {
    }
    for (const uint32_t before = ticks; ticks - before < TICKS_A_RUN;) {
      run(input, output);
    }
  }
  handler_input = NULL;
  EXPECT(handler_runs >= HANDLER_RUNS);
  EXPECT(busy_runs > 0);
}

int main(void) {
  pl_tensor input;
  pl_tensor output;
  EXPECT_EQUAL(pl_model_init(&model, &motion_plan), PL_OK);
  EXPECT_EQUAL(pl_model_input(&model, 0, &input), PL_OK);
  EXPECT_EQUAL(pl_model_output(&model, 0, &output), PL_OK);
  EXPECT_EQUAL(output.spec.bytes, OUTPUTS);
  EXPECT(input.spec.bytes <= MOST_INPUT_BYTES);
  for (uint32_t i = 0; i < input.spec.bytes; ++i) {
    input_data[i] = (int8_t)(i * 37);
  }
  input.data = input_data;
  EXPECT_EQUAL(pl_model_run(&model, &input, 1, &output, 1), PL_OK);
  memcpy(alone, output.data, OUTPUTS);

  EXPECT(pl_timer_start(RATE_HZ));
  test_interrupted_runs(&input, &output);
  test_runs_in_the_handler(&input, &output);
  pl_timer_stop();
  EXPECT_EQUAL(wrong, 0);
  EXPECT_EQUAL(wrong_in_handler, 0);
  return expect_report();
}
