// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean_pool2d/mean_pool2d_s16.h"

#include "kernels/mean/mean_s16.h"
#include "kernels/mean_pool2d/windows.h"

pl_status pl_mean_pool2d_s16(const pl_context *ctx, const pl_mean_pool2d_s16_params *params,
                             const pl_mean_pool2d_s16_dims *dims,
                             const pl_mean_pool2d_s16_data *data) {
  const pl_mean_axis rows = pl_mean_rows_axis(params, dims);
  const pl_mean_axis columns = pl_mean_columns_axis(params, dims);
  const int32_t row_size = dims->input_w * dims->input_c;
  pl_mean_dims over = {.kept = {1, 1, dims->input_c},
                       .kept_stride = {0, 0, 1},
                       .reduced = {1, 1, 1},
                       .reduced_stride = {0, row_size, dims->input_c}};
  pl_window_mean mean = {.divisor = 0};
  const int16_t *image = data->input;
  int16_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_mean_span y = pl_mean_span_of(&rows, oy);
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const pl_mean_span x = pl_mean_span_of(&columns, ox);
        pl_mean_over(&mean, params, y, x);
        const pl_mean_params factor = {0, mean.stage.multiplier, mean.stage.shift, 0};
        over.reduced[1] = y.taps;
        over.reduced[2] = x.taps;
        const pl_mean_s16_data of = {image + y.begin * row_size + x.begin * dims->input_c, output};
        const pl_status status = pl_mean_s16(ctx, &factor, &over, &of);
        if (status != PL_OK) return status;
        output += dims->input_c;
      }
    }
    image += dims->input_h * row_size;
  }
  return PL_OK;
}
