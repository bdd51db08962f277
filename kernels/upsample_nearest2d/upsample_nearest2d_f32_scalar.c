// SPDX-License-Identifier: Apache-2.0
#include "kernels/upsample_nearest2d/upsample_nearest2d.h"

pl_status pl_upsample_nearest2d_f32(const pl_context *ctx,
                                    const pl_upsample_nearest2d_params *params,
                                    const pl_upsample_nearest2d_dims *dims,
                                    const pl_upsample_nearest2d_data *data) {
  (void)ctx;
  (void)params;
  const float *image = data->input;
  float *output = data->output;
  for (int32_t i = 0; i < dims->images; ++i) {
    for (int32_t y = 0; y < dims->output_h; ++y) {
      const float *row = image + data->rows[y] * dims->input_w;
      for (int32_t x = 0; x < dims->output_w; ++x) *output++ = row[data->columns[x]];
    }
    image += dims->input_h * dims->input_w;
  }
  return PL_OK;
}
