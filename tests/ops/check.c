// SPDX-License-Identifier: Apache-2.0
//
// Runs a bundle of op cases on every stored vector and compares all outputs bit for bit:
// firmware/apps/check.c for models of any number of inputs and outputs. Outputs are numbered in the
// order of the table's cases.

#include <stdint.h>
#include <string.h>

#include "boards/common/print.h"
#include "firmware/apps/inference.h"
#include "firmware/runtime/model.h"

static const uint8_t *stored(const void *tensors, uint32_t vector, const pl_tensor *tensor) {
  return (const uint8_t *)tensors + (size_t)vector * tensor->spec.bytes;
}

static void run(const pl_plan *plan) {
  pl_model model;
  pl_status status = pl_model_init(&model, plan);
  if (status == PL_OK) {
    status =
        pl_model_run(&model, plan->inputs, plan->input_count, plan->outputs, plan->output_count);
  }
  if (status != PL_OK) {
    pl_print(pl_status_name(status));
    pl_print(" at tensor or step ");
    pl_print_u32(model.error_index);
    pl_print("\n");
    pl_app_end(false, "the bundle does not run");
  }
}

int main(void) {
  const pl_vectors *const vectors = &pl_image_vectors;
  const pl_plan *const plan = vectors->plan;
  uint32_t equal = 0;
  for (uint32_t vector = 0; vector < vectors->count; ++vector) {
    for (uint32_t i = 0; i < plan->input_count; ++i) {
      const pl_tensor *const input = &plan->inputs[i];
      memcpy(input->data, stored(vectors->inputs[i], vector, input), input->spec.bytes);
    }
    run(plan);
    for (uint32_t i = 0; i < plan->output_count; ++i) {
      const pl_tensor *const output = &plan->outputs[i];
      if (memcmp(output->data, stored(vectors->outputs[i], vector, output), output->spec.bytes) ==
          0) {
        ++equal;
      } else {
        pl_print("vector ");
        pl_print_u32(vector);
        pl_print(": output ");
        pl_print_u32(i);
        pl_print(" differs\n");
      }
    }
  }
  const uint32_t compared = vectors->count * plan->output_count;
  pl_app_stat("outputs", compared);
  pl_app_stat("equal", equal);
  pl_app_end(compared > 0 && equal == compared, "outputs differ from the stored ones");
}
