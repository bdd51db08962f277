// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/pool_s16.h"
#include "kernels/common/pool_s8.h"
#include "kernels/max_pool2d/max_pool2d_s16.h"

pl_status pl_max_pool2d_s16(const pl_context *ctx, const pl_max_pool2d_s16_params *params,
                            const pl_max_pool2d_s16_dims *dims,
                            const pl_max_pool2d_s16_data *data) {
  (void)ctx;
  const int32_t channels = dims->input_c;
  const int32_t row_size = dims->input_w * channels;
  pl_wide_window window = {
      .row_step = params->dilation_h * row_size,
      .column_step = params->dilation_w * channels,
  };
  const int16_t *image = data->input;
  int16_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_taps y = pl_clip_taps(oy * params->stride_h - params->pad_top, dims->kernel_h,
                                     params->dilation_h, dims->input_h);
      window.rows = y.count;
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const pl_taps x = pl_clip_taps(ox * params->stride_w - params->pad_left, dims->kernel_w,
                                       params->dilation_w, dims->input_w);
        const int16_t *first = image + y.begin * row_size + x.begin * channels;
        window.columns = x.count;
        pl_max_window_s16(&window, first, channels, output);
        output += channels;
      }
    }
    image += dims->input_h * row_size;
  }
  return PL_OK;
}
