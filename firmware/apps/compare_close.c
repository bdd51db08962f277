// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/apps/compare.h"

static const float RELATIVE = 1e-4F;

static float float_at(const uint8_t *data, uint32_t element) {
  float value = 0.0F;
  memcpy(&value, data + (size_t)element * sizeof(value), sizeof(value));
  return value;
}

static int32_t integer_at(const uint8_t *data, uint32_t element, uint32_t size) {
  int16_t wide = 0;
  if (size == 1) {
    return (int8_t)data[element];
  }
  memcpy(&wide, data + (size_t)element * sizeof(wide), sizeof(wide));
  return wide;
}

static bool floats_are_close(float actual, float expected, float tolerance) {
  // Infinities and NaN have no distance.
  if (!isfinite(actual) || !isfinite(expected)) {
    return isnan(actual) ? isnan(expected) != 0 : actual == expected;
  }
  return fabsf(actual - expected) <= tolerance;
}

static uint32_t compare_floats(const uint8_t *actual, const uint8_t *expected, uint32_t count) {
  float largest = 0.0F;
  for (uint32_t i = 0; i < count; ++i) {
    const float magnitude = fabsf(float_at(expected, i));
    if (isfinite(magnitude) && magnitude > largest) {
      largest = magnitude;
    }
  }
  uint32_t element = 0;
  while (element < count && floats_are_close(float_at(actual, element), float_at(expected, element),
                                             RELATIVE * largest)) {
    ++element;
  }
  return element;
}

uint32_t pl_compare_close(const pl_tensor *tensor, const uint8_t *expected) {
  const pl_dtype dtype = tensor->spec.dtype;
  const uint32_t size = pl_dtype_size(dtype);
  const uint32_t count = tensor->spec.bytes / size;
  if (dtype == PL_DTYPE_FLOAT32) {
    return compare_floats(tensor->data, expected, count);
  }
  if (dtype != PL_DTYPE_INT8 && dtype != PL_DTYPE_INT16) {
    return pl_compare_bits(tensor, expected);
  }
  uint32_t element = 0;
  while (element < count &&
         abs(integer_at(tensor->data, element, size) - integer_at(expected, element, size)) <= 1) {
    ++element;
  }
  return element;
}
