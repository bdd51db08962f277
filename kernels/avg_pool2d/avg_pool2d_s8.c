// SPDX-License-Identifier: Apache-2.0
#include "kernels/avg_pool2d/avg_pool2d.h"

#include "kernels/common/pool_s8.h"

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

pl_status pl_avg_pool2d_s8(const pl_context *ctx, const pl_avg_pool2d_params *params,
                           const pl_avg_pool2d_dims *dims, const pl_avg_pool2d_data *data) {
  (void)ctx;
  const int32_t channels = dims->input_c;
  const int32_t row_bytes = dims->input_w * channels;
  pl_pool_window window = {.row_step = row_bytes, .column_step = channels, .channels = channels};
  const pl_whole_windows whole = pl_whole_windows_of(params->pad_left, params->stride_w,
                                                     dims->kernel_w, dims->input_w, dims->output_w);
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t top = oy * params->stride_h - params->pad_top;
      const int32_t height = smaller(dims->kernel_h, dims->input_h + params->pad_bottom - top);
      const pl_taps y = pl_clip_taps(top, dims->kernel_h, 1, dims->input_h);
      window.rows = y.count;
      for (int32_t ox = 0; ox < dims->output_w;) {
        const int32_t together = pl_windows_together(whole, ox);
        const int32_t left = ox * params->stride_w - params->pad_left;
        const int32_t width = smaller(dims->kernel_w, dims->input_w + params->pad_right - left);
        const pl_taps x = pl_clip_taps(left, dims->kernel_w, 1, dims->input_w);
        window.columns = x.count;
        window.first = image + y.begin * row_bytes + x.begin * channels;
        const int32_t taps = y.count * x.count;
        const int32_t counted = params->count_include_pad ? height * width : taps;
        const int32_t divisor = params->divisor_override > 0 ? params->divisor_override : counted;
        pl_average_windows_s8(&window, together, params->stride_w * channels,
                              (divisor - taps) * params->zero_point, divisor, output);
        output += together * channels;
        ox += together;
      }
    }
    image += dims->input_h * row_bytes;
  }
  return PL_OK;
}
