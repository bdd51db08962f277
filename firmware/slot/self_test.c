// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/self_test.h"

#include <string.h>

#include "firmware/runtime/model.h"
#include "firmware/slot/package.h"

bool pl_package_self_test(const uint8_t *package, const pl_plan *plan) {
  const pl_package_header *const header = (const void *)package;
  const uint8_t *at = package + header->vectors.offset;
  pl_model model;
  if (pl_model_init(&model, plan) != PL_OK) return false;
  for (uint32_t vector = 0; vector < header->vector_count; ++vector) {
    for (uint32_t i = 0; i < plan->input_count; ++i) {
      memcpy(plan->inputs[i].data, at, plan->inputs[i].spec.bytes);
      at += plan->inputs[i].spec.bytes;
    }
    if (pl_model_run(&model, plan->inputs, plan->input_count, plan->outputs, plan->output_count) !=
        PL_OK) {
      return false;
    }
    for (uint32_t i = 0; i < plan->output_count; ++i) {
      if (memcmp(plan->outputs[i].data, at, plan->outputs[i].spec.bytes) != 0) return false;
      at += plan->outputs[i].spec.bytes;
    }
  }
  return true;
}
