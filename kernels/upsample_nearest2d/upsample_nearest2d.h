// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_UPSAMPLE_NEAREST2D_UPSAMPLE_NEAREST2D_H_
#define KERNELS_UPSAMPLE_NEAREST2D_UPSAMPLE_NEAREST2D_H_

#include "kernels/common/types.h"

typedef struct pl_upsample_nearest2d_params pl_upsample_nearest2d_params;  // none: null

typedef struct {
  int32_t images;  // batches * channels
  int32_t input_h;
  int32_t input_w;
  int32_t output_h;
  int32_t output_w;
} pl_upsample_nearest2d_dims;

typedef struct {
  const float *input;      // [images, input_h, input_w]
  const int32_t *rows;     // [output_h]: the input row of each output row
  const int32_t *columns;  // [output_w]
  float *output;           // [images, output_h, output_w]
} pl_upsample_nearest2d_data;

// output[i][y][x] = input[i][rows[y]][columns[x]].
PL_MUST_USE pl_status pl_upsample_nearest2d_f32(const pl_context *ctx,
                                                const pl_upsample_nearest2d_params *params,
                                                const pl_upsample_nearest2d_dims *dims,
                                                const pl_upsample_nearest2d_data *data);

#endif  // KERNELS_UPSAMPLE_NEAREST2D_UPSAMPLE_NEAREST2D_H_
