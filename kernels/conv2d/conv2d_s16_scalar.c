// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide.h"
#include "kernels/conv2d/conv2d_s16.h"

// Taps [begin, end) of a window along one dimension lie inside of the input.
typedef struct {
  int32_t begin;
  int32_t end;
} taps;

static taps inside(int32_t first, int32_t dilation, int32_t kernel, int32_t size) {
  taps t = {0, kernel};
  while (t.begin < kernel && first + t.begin * dilation < 0) ++t.begin;
  while (t.end > t.begin && first + (t.end - 1) * dilation >= size) --t.end;
  return t;
}

// A window of one group: its taps inside, the first of them, and the steps from tap to tap.
typedef struct {
  taps rows;
  taps columns;
  const int16_t *first;
  int32_t row_step;
  int32_t column_step;
  int32_t kernel_w;
  int32_t depth;  // channels of a tap
} window;

static int64_t convolve(const window *w, const int8_t *weight, int64_t sum) {
  const int32_t columns = w->columns.end - w->columns.begin;
  const int16_t *row = w->first;
  weight += (w->rows.begin * w->kernel_w + w->columns.begin) * w->depth;
  for (int32_t y = w->rows.begin; y < w->rows.end; ++y) {
    if (w->depth == 1) {
      for (int32_t x = 0; x < columns; ++x) sum += (int64_t)row[x * w->column_step] * weight[x];
    } else if (w->column_step == w->depth) {
      sum = pl_wide_dot(sum, row, weight, columns * w->depth);
    } else {
      for (int32_t x = 0; x < columns; ++x) {
        sum = pl_wide_dot(sum, row + x * w->column_step, weight + x * w->depth, w->depth);
      }
    }
    row += w->row_step;
    weight += w->kernel_w * w->depth;
  }
  return sum;
}

// All channels at one place of the output; the window is that of the first group.
static void convolve_groups(const pl_conv2d_s16_params *params, const pl_conv2d_s16_dims *dims,
                            const pl_conv2d_s16_data *data, window *w, int16_t *output) {
  const int32_t channels = dims->output_c / dims->groups;
  const int32_t size = dims->kernel_h * dims->kernel_w * w->depth;
  const int8_t *weight = data->weight;
  int32_t o = 0;
  for (int32_t group = 0; group < dims->groups; ++group) {
    for (int32_t end = o + channels; o < end; ++o, weight += size) {
      const int64_t sum = convolve(w, weight, data->bias[o]);
      output[o] = pl_wide_narrow(sum, data->multiplier[o], data->shift[o], params->activation_min,
                                 params->activation_max);
    }
    w->first += w->depth;
  }
}

pl_status pl_conv2d_s16(const pl_context *ctx, const pl_conv2d_s16_params *params,
                        const pl_conv2d_s16_dims *dims, const pl_conv2d_s16_data *data) {
  (void)ctx;
  const int32_t row_size = dims->input_w * dims->input_c;
  const int16_t *image = data->input;
  int16_t *output = data->output;
  window w = {
      .row_step = params->dilation_h * row_size,
      .column_step = params->dilation_w * dims->input_c,
      .kernel_w = dims->kernel_w,
      .depth = dims->input_c / dims->groups,
  };
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t y = oy * params->stride_h - params->pad_top;
      w.rows = inside(y, params->dilation_h, dims->kernel_h, dims->input_h);
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const int32_t x = ox * params->stride_w - params->pad_left;
        w.columns = inside(x, params->dilation_w, dims->kernel_w, dims->input_w);
        w.first = image + (y + w.rows.begin * params->dilation_h) * row_size +
                  (x + w.columns.begin * params->dilation_w) * dims->input_c;
        convolve_groups(params, dims, data, &w, output);
        output += dims->output_c;
      }
    }
    image += dims->input_h * row_size;
  }
  return PL_OK;
}
