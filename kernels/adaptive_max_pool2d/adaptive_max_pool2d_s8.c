// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaptive_max_pool2d/adaptive_max_pool2d.h"

#include "kernels/common/pool_s8.h"

pl_status pl_adaptive_max_pool2d_s8(const pl_context *ctx,
                                    const pl_adaptive_max_pool2d_params *params,
                                    const pl_adaptive_max_pool2d_dims *dims,
                                    const pl_adaptive_max_pool2d_data *data) {
  (void)ctx;
  (void)params;
  const int32_t channels = dims->input_c;
  const int32_t row_bytes = dims->input_w * channels;
  pl_pool_window window = {.row_step = row_bytes, .column_step = channels, .channels = channels};
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_taps y = pl_adaptive_taps(oy, dims->input_h, dims->output_h);
      window.rows = y.count;
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const pl_taps x = pl_adaptive_taps(ox, dims->input_w, dims->output_w);
        window.columns = x.count;
        window.first = image + y.begin * row_bytes + x.begin * channels;
        pl_max_window_s8(&window, output);
        output += channels;
      }
    }
    image += dims->input_h * row_bytes;
  }
  return PL_OK;
}
