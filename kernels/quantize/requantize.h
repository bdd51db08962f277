// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_QUANTIZE_REQUANTIZE_H_
#define KERNELS_QUANTIZE_REQUANTIZE_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t input_zero_point;  // 0 for int16
  int32_t multiplier;
  int32_t shift;
  int32_t output_zero_point;  // 0 for int16
} pl_requantize_params;

typedef struct {
  int32_t size;
} pl_requantize_dims;

typedef struct {
  const void *input;  // [size]
  void *output;       // [size], may be the input if both are int16
} pl_requantize_data;

// output = saturate(requantize(input - input_zero_point) + output_zero_point). A name has the input
// type, then the output type; s16 is both.
PL_MUST_USE pl_status pl_requantize_s16(const pl_context *ctx, const pl_requantize_params *params,
                                        const pl_requantize_dims *dims,
                                        const pl_requantize_data *data);
PL_MUST_USE pl_status pl_requantize_s16_s8(const pl_context *ctx,
                                           const pl_requantize_params *params,
                                           const pl_requantize_dims *dims,
                                           const pl_requantize_data *data);
PL_MUST_USE pl_status pl_requantize_s8_s16(const pl_context *ctx,
                                           const pl_requantize_params *params,
                                           const pl_requantize_dims *dims,
                                           const pl_requantize_data *data);

#endif  // KERNELS_QUANTIZE_REQUANTIZE_H_
