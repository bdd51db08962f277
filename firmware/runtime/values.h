// SPDX-License-Identifier: Apache-2.0
//
// Between real numbers and the elements of a model's tensors, for apps.
//
//   float window[64];
//   status = pl_quantize(&input, window);  // or pl_from_bytes(&input, pixels)
//   ... pl_model_run ...
//   status = pl_argmax(&output, &best);
#ifndef FIRMWARE_RUNTIME_VALUES_H_
#define FIRMWARE_RUNTIME_VALUES_H_

#include <stdint.h>

#include "firmware/runtime/plan.h"
#include "kernels/common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Elements of a tensor.
uint32_t pl_tensor_size(const pl_tensor *tensor);

// Writes all elements of a tensor from as many values in the same order, as the model's own border
// from float32 does (pl::quantize): round(value * (1 / scale)), ties to even, plus the zero point,
// limited to what the type has; NaN is the zero point. float32 is copied. PL_ERROR_NULL; or
// PL_ERROR_INPUT_DTYPE if the tensor is neither of int8, int16 with a scale, nor of float32.
PL_MUST_USE pl_status pl_quantize(const pl_tensor *tensor, const float *values);

// Writes all elements of an input that the model takes as uint8 from as many bytes in the same
// order, as a camera has them: byte - 128. The bytes may lie where the tensor's data are.
// PL_ERROR_NULL; PL_ERROR_INPUT_DTYPE, or INPUT_SCALE or INPUT_ZERO_POINT, if the tensor is no such
// input: it is int8 with the scale 1 and the zero point -128.
PL_MUST_USE pl_status pl_from_bytes(const pl_tensor *tensor, const uint8_t *bytes);

// Real numbers of elements: (element - zero point) * scale, for the types of pl_quantize.
// PL_ERROR_NULL or PL_ERROR_OUTPUT_DTYPE.
PL_MUST_USE pl_status pl_dequantize(const pl_tensor *tensor, float *values);

// Index of the largest element, the first of equal ones; NaN is not looked at. Of int8, int16,
// int32, float32. PL_ERROR_NULL or PL_ERROR_OUTPUT_DTYPE.
PL_MUST_USE pl_status pl_argmax(const pl_tensor *tensor, uint32_t *index);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_RUNTIME_VALUES_H_
