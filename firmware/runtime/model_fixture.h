// SPDX-License-Identifier: Apache-2.0
//
// Common code of the parts of model_test.c: a handwritten plan of two inputs (int8 [2, 3] and
// float32 [2]), two steps and two outputs. Output 0 is input 0 plus one, output 1 is input 1
// negated. The result of step 0 aliases input 0.
#ifndef FIRMWARE_RUNTIME_MODEL_FIXTURE_H_
#define FIRMWARE_RUNTIME_MODEL_FIXTURE_H_

#include <stdint.h>

#include "firmware/runtime/model.h"

extern uint8_t arena[64];
extern const pl_plan plan;
extern uint32_t steps_run;     // since set_up
extern pl_status step_status;  // of step 1

pl_status increment(const pl_context *context, const pl_step *step);  // step 0
pl_status negate(const pl_context *context, const pl_step *step);     // step 1

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

void set_up(fixture *f);
pl_status run(fixture *f);

// The tests of each file.
void test_buffers(void);
void test_input_rows(void);

#endif  // FIRMWARE_RUNTIME_MODEL_FIXTURE_H_
