// SPDX-License-Identifier: Apache-2.0
#include "kernels/max_pool2d/max_pool2d.h"

#include "kernels/common/pool_s8.h"

pl_status pl_max_pool2d_s8(const pl_context *ctx, const pl_max_pool2d_params *params,
                           const pl_max_pool2d_dims *dims, const pl_max_pool2d_data *data) {
  (void)ctx;
  const int32_t channels = dims->input_c;
  const int32_t row_bytes = dims->input_w * channels;
  pl_pool_window window = {
      .row_step = params->dilation_h * row_bytes,
      .column_step = params->dilation_w * channels,
      .channels = channels,
  };
  const int32_t reach = (dims->kernel_w - 1) * params->dilation_w + 1;
  const pl_whole_windows whole =
      pl_whole_windows_of(params->pad_left, params->stride_w, reach, dims->input_w, dims->output_w);
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_taps y = pl_clip_taps(oy * params->stride_h - params->pad_top, dims->kernel_h,
                                     params->dilation_h, dims->input_h);
      window.rows = y.count;
      for (int32_t ox = 0; ox < dims->output_w;) {
        const int32_t together = pl_windows_together(whole, ox);
        const pl_taps x = pl_clip_taps(ox * params->stride_w - params->pad_left, dims->kernel_w,
                                       params->dilation_w, dims->input_w);
        window.columns = x.count;
        window.first = image + y.begin * row_bytes + x.begin * channels;
        pl_max_windows_s8(&window, together, params->stride_w * channels, output);
        output += together * channels;
        ox += together;
      }
    }
    image += dims->input_h * row_bytes;
  }
  return PL_OK;
}
