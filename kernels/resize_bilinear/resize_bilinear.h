// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RESIZE_BILINEAR_RESIZE_BILINEAR_H_
#define KERNELS_RESIZE_BILINEAR_RESIZE_BILINEAR_H_

#include "kernels/common/types.h"

// Pixel o of an output axis is at position (o * step + offset) / unit of the input.
typedef struct {
  int32_t step_h;
  int32_t step_w;
  int32_t offset_h;
  int32_t offset_w;
  int32_t unit_h;
  int32_t unit_w;
} pl_resize_bilinear_params;

typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t channels;
  int32_t output_h;
  int32_t output_w;
} pl_resize_bilinear_dims;

typedef struct {
  const int8_t *input;  // [batches, input_h, input_w, channels]
  int8_t *output;       // [batches, output_h, output_w, channels]
} pl_resize_bilinear_data;

// The weighted mean of the four pixels around each place, ties away from zero; places outside of
// the input are moved to its border. Sums of unit_h * unit_w int8 values fit int32.
PL_MUST_USE pl_status pl_resize_bilinear_s8(const pl_context *ctx,
                                            const pl_resize_bilinear_params *params,
                                            const pl_resize_bilinear_dims *dims,
                                            const pl_resize_bilinear_data *data);

#endif  // KERNELS_RESIZE_BILINEAR_RESIZE_BILINEAR_H_
