// SPDX-License-Identifier: Apache-2.0
//
// COUNT models in one program: each runs, and none writes into the memory of another.
#include <stdint.h>

#include "boards/common/print.h"
#include "firmware/runtime/model.h"
#include "tests/several/first.h"
#include "tests/several/fourth.h"
#include "tests/several/second.h"
#include "tests/several/third.h"

static const pl_plan *const plans[] = {
    &first,
#if COUNT > 1
    &second,
    &third,
    &fourth,
#endif
};

static pl_status run(uint32_t index, void *output_data) {
  pl_model model;
  pl_tensor input;
  pl_tensor output;
  pl_status status = pl_model_init(&model, plans[index]);
  if (status == PL_OK) {
    status = pl_model_input(&model, 0, &input);
  }
  if (status == PL_OK) {
    status = pl_model_output(&model, 0, &output);
  }
  if (status != PL_OK) {
    return status;
  }
  for (uint32_t i = 0; i < input.spec.bytes; ++i) {
    ((int8_t *)input.data)[i] = (int8_t)i;
  }
  if (output_data != NULL) {
    output.data = output_data;
  }
  return pl_model_run(&model, &input, 1, &output, 1);
}

int main(void) {
  uint32_t failures = 0;
  for (uint32_t i = 0; i < COUNT; ++i) {
    failures += run(i, NULL) == PL_OK ? 0 : 1;
    for (uint32_t other = 0; other < COUNT; ++other) {
      // As plain bytes in the arena, and as the place where the other takes its input.
      void *const places[] = {(void *)(uintptr_t)plans[other]->arenas[0].base,
                              plans[other]->inputs[0].data};
      for (uint32_t place = 0; place < 2 && other != i; ++place) {
        failures += run(i, places[place]) == PL_ERROR_OUTPUT_OVERLAP ? 0 : 1;
      }
    }
  }
  pl_print(failures == 0 ? "PL:PASS\n" : "PL:FAIL several models\n");
  return failures == 0 ? 0 : 1;
}
