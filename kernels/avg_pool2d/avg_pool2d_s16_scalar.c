// SPDX-License-Identifier: Apache-2.0
#include "kernels/avg_pool2d/avg_pool2d_s16.h"
#include "kernels/common/pool_s16.h"
#include "kernels/common/pool_s8.h"

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

pl_status pl_avg_pool2d_s16(const pl_context *ctx, const pl_avg_pool2d_s16_params *params,
                            const pl_avg_pool2d_s16_dims *dims,
                            const pl_avg_pool2d_s16_data *data) {
  (void)ctx;
  const int32_t channels = dims->input_c;
  const int32_t row_size = dims->input_w * channels;
  const int16_t *image = data->input;
  int16_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t top = oy * params->stride_h - params->pad_top;
      const int32_t height = smaller(dims->kernel_h, dims->input_h + params->pad_bottom - top);
      const pl_taps y = pl_clip_taps(top, dims->kernel_h, 1, dims->input_h);
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const int32_t left = ox * params->stride_w - params->pad_left;
        const int32_t width = smaller(dims->kernel_w, dims->input_w + params->pad_right - left);
        const pl_taps x = pl_clip_taps(left, dims->kernel_w, 1, dims->input_w);
        const int32_t counted = params->count_include_pad ? height * width : y.count * x.count;
        const int32_t divisor = params->divisor_override > 0 ? params->divisor_override : counted;
        const int16_t *first = image + y.begin * row_size + x.begin * channels;
        const pl_wide_window window = {y.count, x.count, row_size, channels};
        pl_average_window_s16(&window, first, channels, divisor, output);
        output += channels;
      }
    }
    image += dims->input_h * row_size;
  }
  return PL_OK;
}
