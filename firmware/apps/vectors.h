// SPDX-License-Identifier: Apache-2.0
//
// Inputs of a model and their expected outputs, stored in the image. firmware/apps/vectors.py
// writes them as C.
#ifndef FIRMWARE_APPS_VECTORS_H_
#define FIRMWARE_APPS_VECTORS_H_

#include <stdint.h>

#include "firmware/apps/compare.h"
#include "firmware/runtime/plan.h"

typedef struct {
  const pl_plan *plan;
  uint32_t count;              // of vectors
  const void *const *inputs;   // by input of the model: `count` tensors, one after another
  const void *const *outputs;  // by output of the model: the expected ones, likewise
  const uint16_t *labels;      // by vector: the right class; null if there are none
  pl_compare compare;          // of an output with the expected one
} pl_vectors;

// The vectors of this image.
extern const pl_vectors pl_image_vectors;

#endif  // FIRMWARE_APPS_VECTORS_H_
