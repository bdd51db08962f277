// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RESIZE_BILINEAR_RESIZE_BILINEAR_S16_H_
#define KERNELS_RESIZE_BILINEAR_RESIZE_BILINEAR_S16_H_

#include "kernels/resize_bilinear/resize_bilinear.h"

typedef pl_resize_bilinear_params pl_resize_bilinear_s16_params;
typedef pl_resize_bilinear_dims pl_resize_bilinear_s16_dims;

typedef struct {
  const int16_t *input;
  int16_t *output;
} pl_resize_bilinear_s16_data;

// pl_resize_bilinear_s8 for int16, with 64-bit sums; unit_h * unit_w is an int32.
PL_MUST_USE pl_status pl_resize_bilinear_s16(const pl_context *ctx,
                                             const pl_resize_bilinear_s16_params *params,
                                             const pl_resize_bilinear_s16_dims *dims,
                                             const pl_resize_bilinear_s16_data *data);

#endif  // KERNELS_RESIZE_BILINEAR_RESIZE_BILINEAR_S16_H_
