// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Adding 1.5 * 2^23 rounds a small value to an integer, ties to even, in the sum's low bits.
static const float rounder = 12582912.0f;

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static bool is_number(float value) { return (bits_of(value) & 0x7fffffffu) <= 0x7f800000u; }

static int32_t clamp(int32_t value, int32_t low, int32_t high) {
  if (value < low) {
    return low;
  }
  return value > high ? high : value;
}

static int32_t quantize(float value, float inverse_scale, int32_t zero_point, int32_t low,
                        int32_t high) {
  const float limit = 65536.0f;  // beyond the numbers of both types, whatever the zero point
  const float scaled = value * inverse_scale;
  if (!is_number(scaled)) {
    return zero_point;
  }
  if (scaled >= limit || scaled <= -limit) {
    return scaled > 0 ? high : low;
  }
  const uint32_t rounded = bits_of(scaled + rounder) - bits_of(rounder);
  return clamp((int32_t)rounded + zero_point, low, high);
}

uint32_t pl_tensor_size(const pl_tensor *tensor) {
  return tensor->spec.bytes / pl_dtype_size(tensor->spec.dtype);
}

// Returns true for int8 or int16, quantized.
static bool is_quantized(const pl_tensor_spec *spec) {
  return (spec->dtype == PL_DTYPE_INT8 || spec->dtype == PL_DTYPE_INT16) && spec->scale > 0;
}

pl_status pl_quantize(const pl_tensor *tensor, const float *values) {
  if (tensor == NULL || values == NULL || tensor->data == NULL) {
    return PL_ERROR_NULL;
  }
  const pl_tensor_spec *const spec = &tensor->spec;
  if (spec->dtype == PL_DTYPE_FLOAT32) {
    memcpy(tensor->data, values, spec->bytes);
    return PL_OK;
  }
  if (!is_quantized(spec)) {
    return PL_ERROR_INPUT_DTYPE;
  }
  const float inverse_scale = 1.0f / spec->scale;
  const uint32_t size = pl_tensor_size(tensor);
  for (uint32_t i = 0; i < size; ++i) {
    if (spec->dtype == PL_DTYPE_INT8) {
      ((int8_t *)tensor->data)[i] =
          (int8_t)quantize(values[i], inverse_scale, spec->zero_point, INT8_MIN, INT8_MAX);
    } else {
      ((int16_t *)tensor->data)[i] =
          (int16_t)quantize(values[i], inverse_scale, spec->zero_point, INT16_MIN, INT16_MAX);
    }
  }
  return PL_OK;
}

pl_status pl_from_bytes(const pl_tensor *tensor, const uint8_t *bytes) {
  if (tensor == NULL || bytes == NULL || tensor->data == NULL) {
    return PL_ERROR_NULL;
  }
  const pl_tensor_spec *const spec = &tensor->spec;
  if (spec->dtype != PL_DTYPE_INT8) {
    return PL_ERROR_INPUT_DTYPE;
  }
  if (bits_of(spec->scale) != bits_of(1.0f)) {
    return PL_ERROR_INPUT_SCALE;
  }
  if (spec->zero_point != INT8_MIN) {
    return PL_ERROR_INPUT_ZERO_POINT;
  }
  uint8_t *const elements = tensor->data;
  for (uint32_t i = 0; i < spec->bytes; ++i) {
    elements[i] = bytes[i] ^ 0x80u;  // subtracts 128 in two's complement
  }
  return PL_OK;
}

static int32_t integer(const pl_tensor *tensor, uint32_t index) {
  switch (tensor->spec.dtype) {
    case PL_DTYPE_INT8:
      return ((const int8_t *)tensor->data)[index];
    case PL_DTYPE_INT16:
      return ((const int16_t *)tensor->data)[index];
    default:
      return ((const int32_t *)tensor->data)[index];
  }
}

pl_status pl_dequantize(const pl_tensor *tensor, float *values) {
  if (tensor == NULL || values == NULL || tensor->data == NULL) {
    return PL_ERROR_NULL;
  }
  const pl_tensor_spec *const spec = &tensor->spec;
  if (spec->dtype == PL_DTYPE_FLOAT32) {
    memcpy(values, tensor->data, spec->bytes);
    return PL_OK;
  }
  if (!is_quantized(spec)) {
    return PL_ERROR_OUTPUT_DTYPE;
  }
  const uint32_t size = pl_tensor_size(tensor);
  for (uint32_t i = 0; i < size; ++i) {
    values[i] = (float)(integer(tensor, i) - spec->zero_point) * spec->scale;
  }
  return PL_OK;
}

static bool is_larger(const pl_tensor *tensor, uint32_t index, uint32_t best) {
  if (tensor->spec.dtype != PL_DTYPE_FLOAT32) {
    return integer(tensor, index) > integer(tensor, best);
  }
  const float *const values = (const float *)tensor->data;
  return values[index] > values[best] || (!is_number(values[best]) && is_number(values[index]));
}

pl_status pl_argmax(const pl_tensor *tensor, uint32_t *index) {
  if (tensor == NULL || index == NULL || tensor->data == NULL) {
    return PL_ERROR_NULL;
  }
  if (tensor->spec.dtype == PL_DTYPE_BOOL) {
    return PL_ERROR_OUTPUT_DTYPE;
  }
  const uint32_t size = pl_tensor_size(tensor);
  uint32_t best = 0;
  for (uint32_t i = 1; i < size; ++i) {
    best = is_larger(tensor, i, best) ? i : best;
  }
  *index = best;
  return PL_OK;
}
