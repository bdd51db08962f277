// SPDX-License-Identifier: Apache-2.0
//
// Zero-copy chaining: a model reads the output of another one in place.
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/runtime/model.h"
#include "tests/several/back_plan.h"
#include "tests/several/front_plan.h"

enum { BETWEEN = 8, RESULTS = 3 };

int main(void) {
  pl_model front;
  pl_model back;
  int8_t copy[BETWEEN] = {0};
  int8_t results[2][RESULTS] = {{0}};
  pl_tensor between = front_plan.outputs[0];
  EXPECT(between.data == back_plan.inputs[0].data);
  EXPECT(between.spec.bytes == sizeof copy);
  EXPECT(pl_model_init(&front, &front_plan) == PL_OK);
  EXPECT(pl_model_init(&back, &back_plan) == PL_OK);
  for (uint32_t i = 0; i < front_plan.inputs[0].spec.bytes; ++i) {
    ((int8_t *)front_plan.inputs[0].data)[i] = (int8_t)(i * 7);
  }
  EXPECT(pl_model_run(&front, front_plan.inputs, 1, &between, 1) == PL_OK);
  memcpy(copy, between.data, sizeof copy);
  for (uint32_t i = 0; i < 2; ++i) {
    pl_tensor result = back_plan.outputs[0];
    result.data = results[i];
    EXPECT(pl_model_run(&back, &between, 1, &result, 1) == PL_OK);
    between.data = copy;
  }
  EXPECT(memcmp(results[0], results[1], RESULTS) == 0);
  EXPECT(results[0][0] != results[0][1]);
  return expect_report();
}
