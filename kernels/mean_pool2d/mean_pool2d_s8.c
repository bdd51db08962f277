// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean_pool2d/mean_pool2d.h"

#include "kernels/common/mean_window_s8.h"
#include "kernels/mean_pool2d/windows.h"

pl_status pl_mean_pool2d_s8(const pl_context *ctx, const pl_mean_pool2d_params *params,
                            const pl_mean_pool2d_dims *dims, const pl_mean_pool2d_data *data) {
  (void)ctx;
  const pl_mean_axis rows = pl_mean_rows_axis(params, dims);
  const pl_mean_axis columns = pl_mean_columns_axis(params, dims);
  const int32_t channels = dims->input_c;
  const pl_whole_windows whole =
      columns.parts == 1 ? pl_whole_windows_of(columns.before, columns.stride, columns.kernel,
                                               columns.size, dims->output_w)
                         : (pl_whole_windows){0};
  const int32_t row_size = dims->input_w * channels;
  pl_pool_window window = {.row_step = row_size, .column_step = channels, .channels = channels};
  pl_window_mean mean = {.stage.output_zero_point = params->output_zero_point};
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_mean_span y = pl_mean_span_of(&rows, oy);
      window.rows = y.taps;
      for (int32_t ox = 0; ox < dims->output_w;) {
        const int32_t together = pl_windows_together(whole, ox);
        const pl_mean_span x = pl_mean_span_of(&columns, ox);
        window.columns = x.taps;
        window.first = image + y.begin * row_size + x.begin * channels;
        pl_mean_over(&mean, params, y, x);
        pl_mean_windows_s8(&window, together, columns.stride * channels, &mean.stage, output);
        output += together * channels;
        ox += together;
      }
    }
    image += dims->input_h * row_size;
  }
  return PL_OK;
}
