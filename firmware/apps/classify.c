// SPDX-License-Identifier: Apache-2.0
//
// Classifies a stored test set. The class is the index of the largest element of output 0, the
// first one if there are several. Prints
//   PL:STAT test images <number>
//   PL:STAT correct on device <number whose class is the label>
//   PL:STAT equal to the reference <number whose output 0 has the stored reference's
//     very bits>
// and passes if all agree.

#include <stdint.h>
#include <string.h>

#include "firmware/apps/inference.h"

static bool greater(const pl_tensor *tensor, uint32_t a, uint32_t b) {
  const uint8_t *const data = tensor->data;
  if (tensor->spec.dtype == PL_DTYPE_INT8) {
    return (int8_t)data[a] > (int8_t)data[b];
  }
  float values[2];
  memcpy(&values[0], data + (size_t)a * sizeof values[0], sizeof values[0]);
  memcpy(&values[1], data + (size_t)b * sizeof values[1], sizeof values[1]);
  return values[0] > values[1];
}

static uint32_t largest(const pl_tensor *tensor) {
  const uint32_t count = tensor->spec.bytes / pl_dtype_size(tensor->spec.dtype);
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (greater(tensor, i, best)) {
      best = i;
    }
  }
  return best;
}

int main(void) {
  pl_app app;
  pl_app_init(&app, &pl_image_vectors);
  const pl_tensor *const output = &app.vectors->plan->outputs[0];
  const pl_dtype dtype = output->spec.dtype;
  if (app.vectors->labels == NULL || (dtype != PL_DTYPE_INT8 && dtype != PL_DTYPE_FLOAT32)) {
    pl_app_end(false, "the image has no labelled test set for a classifier");
  }
  const uint32_t count = app.vectors->count;
  uint32_t correct = 0;
  uint32_t agree = 0;
  for (uint32_t i = 0; i < count; ++i) {
    pl_app_run(&app, i);
    correct += largest(output) == app.vectors->labels[i] ? 1 : 0;
    agree += pl_app_as_expected(&app, i, 0) ? 1 : 0;
  }
  pl_app_stat("test images", count);
  pl_app_stat("correct on device", correct);
  pl_app_stat("equal to the reference", agree);
  pl_app_end(count > 0 && agree == count, "outputs differ from the reference");
}
