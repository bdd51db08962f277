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

// Writes all elements of a tensor from as many values in the same order. The conversion is that of
// the model's own float32 inputs (pl::quantize): round(value * (1 / scale)), ties to even, plus the
// zero point, clamped to the type's range. NaN becomes the zero point. float32 is copied.
// PL_ERROR_NULL; or PL_ERROR_INPUT_DTYPE if the tensor is neither int8 or int16 with a scale, nor
// float32.
PL_MUST_USE pl_status pl_quantize(const pl_tensor *tensor, const float *values);

// Writes all elements of an input that is uint8 in the model, from as many bytes in the same order,
// e.g. from a camera: byte - 128. The bytes may alias the tensor's data. PL_ERROR_NULL;
// PL_ERROR_INPUT_DTYPE, or INPUT_SCALE or INPUT_ZERO_POINT, if the tensor is no such input: int8
// with scale 1 and zero point -128.
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
