// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_AVG_POOL2D_AVG_POOL2D_H_
#define KERNELS_AVG_POOL2D_AVG_POOL2D_H_

#include "kernels/common/pool_dims.h"
#include "kernels/common/types.h"

typedef struct {
  int32_t stride_h;
  int32_t stride_w;
  int32_t pad_top;
  int32_t pad_bottom;
  int32_t pad_left;
  int32_t pad_right;
  int32_t count_include_pad;  // 0 or 1
  int32_t divisor_override;   // 0: none
  int32_t zero_point;         // of input and output
} pl_avg_pool2d_params;

typedef pl_pool2d_dims pl_avg_pool2d_dims;

typedef struct {
  const int8_t *input;  // [batches, input_h, input_w, input_c]
  int8_t *output;       // [batches, output_h, output_w, input_c]
} pl_avg_pool2d_data;

// output = zero_point + (sum over the window's taps inside the input of x - zero_point) / count,
// ties away from zero. count is divisor_override if positive. Otherwise it is the number of taps
// inside the input, including those inside the padding if count_include_pad. Taps beyond the
// padding never count. TFLite int8 AVERAGE_POOL_2D if there is no padding and no override.
PL_MUST_USE pl_status pl_avg_pool2d_s8(const pl_context *ctx, const pl_avg_pool2d_params *params,
                                       const pl_avg_pool2d_dims *dims,
                                       const pl_avg_pool2d_data *data);

// The same on cores with Helium for counts of 2 to 255, not below the number of taps inside the
// input. It needs scratch of 16 bits a value for a row of the windows' columns. With less it
// returns PL_ERROR_SCRATCH_SIZE.
PL_MUST_USE pl_status pl_avg_pool2d_rows_s8(const pl_context *ctx,
                                            const pl_avg_pool2d_params *params,
                                            const pl_avg_pool2d_dims *dims,
                                            const pl_avg_pool2d_data *data);

// The same on cores with Helium if a window is a whole image, of 2 to 255 pixels, without padding
// and override.
PL_MUST_USE pl_status pl_avg_pool2d_whole_s8(const pl_context *ctx,
                                             const pl_avg_pool2d_params *params,
                                             const pl_avg_pool2d_dims *dims,
                                             const pl_avg_pool2d_data *data);

#endif  // KERNELS_AVG_POOL2D_AVG_POOL2D_H_
