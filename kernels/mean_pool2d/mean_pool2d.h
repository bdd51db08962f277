// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MEAN_POOL2D_MEAN_POOL2D_H_
#define KERNELS_MEAN_POOL2D_MEAN_POOL2D_H_

#include "kernels/common/pool_dims.h"
#include "kernels/common/types.h"

typedef struct {
  int32_t stride_h;
  int32_t stride_w;
  int32_t parts_h;
  int32_t parts_w;
  int32_t pad_top;
  int32_t pad_bottom;
  int32_t pad_left;
  int32_t pad_right;
  int32_t by_count;           // 0 or 1
  int32_t count_include_pad;  // likewise
  int32_t input_zero_point;
  int32_t output_zero_point;
  int32_t multiplier;  // [0, 2^31), of sums with guard bits if they are of int8
  int32_t shift;
} pl_mean_pool2d_params;

typedef pl_pool2d_dims pl_mean_pool2d_dims;

typedef struct {
  const int8_t *input;  // [batches, input_h, input_w, input_c]
  int8_t *output;       // [batches, output_h, output_w, input_c]
} pl_mean_pool2d_data;

// pl_mean_windows_s8 of each window with the factor multiplier / 2^31 * 2^shift. With by_count the
// factor is divided by the number of taps inside the input. With count_include_pad the taps inside
// the padding count too. The counts are below 2^16. Taps after the padding never count.
//
// Window i of an axis is [floor(i * stride / parts), ceil((i * stride + kernel) / parts)) less the
// padding before it.
PL_MUST_USE pl_status pl_mean_pool2d_s8(const pl_context *ctx, const pl_mean_pool2d_params *params,
                                        const pl_mean_pool2d_dims *dims,
                                        const pl_mean_pool2d_data *data);

#endif  // KERNELS_MEAN_POOL2D_MEAN_POOL2D_H_
