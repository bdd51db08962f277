// SPDX-License-Identifier: Apache-2.0
//
// Runs every stored vector and compares the outputs with the stored ones. If the model has state it
// does so twice, with a reset in between. The comparison is bit for bit, or approximate for
// float32. Prints differences, and
//   PL:STAT vectors <number>
//   PL:STAT equal <number of vectors all of whose outputs are as stored>, or "close"

#include <stdint.h>
#include <string.h>

#include "boards/common/print.h"
#include "firmware/apps/inference.h"

enum { MAX_REPORTS = 8 };

static void print_element(const pl_tensor *tensor, const uint8_t *data, uint32_t element) {
  const uint32_t size = pl_dtype_size(tensor->spec.dtype);
  uint32_t bits = 0;
  memcpy(&bits, data + (size_t)element * size, size);
  switch (tensor->spec.dtype) {
    case PL_DTYPE_INT8:
      pl_print_i32((int8_t)bits);
      break;
    case PL_DTYPE_INT16:
      pl_print_i32((int16_t)bits);
      break;
    case PL_DTYPE_FLOAT32:
      pl_print_hex32(bits);
      break;
    default:
      pl_print_i32((int32_t)bits);
  }
}

static void report(const pl_app *app, uint32_t index, uint32_t output) {
  const pl_tensor *const tensor = &app->vectors->plan->outputs[output];
  const uint8_t *const actual = tensor->data;
  const uint8_t *const expected = pl_app_expected(app, index, output);
  const uint32_t element = app->vectors->compare(tensor, expected);
  pl_print("vector ");
  pl_print_u32(index);
  pl_print(", output ");
  pl_print_u32(output);
  pl_print(", element ");
  pl_print_u32(element);
  pl_print(" is ");
  print_element(tensor, actual, element);
  pl_print(", expected ");
  print_element(tensor, expected, element);
  pl_print("\n");
}

int main(void) {
  pl_app app;
  pl_app_init(&app, &pl_image_vectors);
  const uint32_t count = app.vectors->count;
  uint32_t equal = 0;
  uint32_t reports = 0;
  // Vectors of a model with state are one sequence, and a reset restarts it.
  const uint32_t passes = app.vectors->plan->states != NULL ? 2 : 1;
  for (uint32_t run = 0; run < passes * count; ++run) {
    const uint32_t i = run % count;
    if (i == 0) {
      pl_app_reset(&app);
    }
    pl_app_run(&app, i);
    bool same = true;
    for (uint32_t output = 0; output < app.vectors->plan->output_count; ++output) {
      if (!pl_app_as_expected(&app, i, output)) {
        same = false;
        if (reports < MAX_REPORTS) {
          report(&app, i, output);
          ++reports;
        }
      }
    }
    equal += same ? 1 : 0;
  }
  pl_app_stat("vectors", passes * count);
  pl_app_stat(app.vectors->compare == pl_compare_bits ? "equal" : "close", equal);
  pl_app_end(count > 0 && equal == passes * count, "outputs differ from the stored ones");
}
