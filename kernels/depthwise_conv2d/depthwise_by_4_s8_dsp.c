// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s8.h"
#include "kernels/common/dsp.h"
#include "kernels/common/window_s8.h"
#include "kernels/depthwise_conv2d/depthwise_conv2d.h"

#define CHANNELS 4

// Keeps loads after it. GCC would load all values first and spill them.
#define IN_ORDER __asm__ volatile("" ::: "memory")

// A window in the input or in scratch, with steps from tap to tap. A window one tap wide is a row.
typedef struct {
  const int8_t *first;
  int32_t row_step;
  int32_t tap_step;
  int32_t rows;
  int32_t taps;  // of a row
} window;

static inline int8_t narrow(int32_t sum, const int32_t *factor, int32_t twice_zero_point_and_1) {
  return pl_narrow_dsp((int32_t)((uint32_t)sum << 1), factor[0], factor[1], twice_zero_point_and_1);
}

typedef struct {
  int32_t sum0, sum1, sum2, sum3;
} four;

// One tap of four channels. SXTB16 pairs its inputs and weights in the same way.
static inline void multiply(four *of, const int8_t *x, const int8_t *w) {
  const int8x4_t xs = pl_load_4(x);
  const int8x4_t ws = pl_load_4(w);
  const int16x2_t x02 = pl_even_s16(xs);
  const int16x2_t w02 = pl_even_s16(ws);
  const int16x2_t x13 = pl_odd_s16(xs);
  const int16x2_t w13 = pl_odd_s16(ws);
  of->sum0 = __smlabb((int32_t)x02, (int32_t)w02, of->sum0);
  of->sum2 = __smlatt((int32_t)x02, (int32_t)w02, of->sum2);
  of->sum1 = __smlabb((int32_t)x13, (int32_t)w13, of->sum1);
  of->sum3 = __smlatt((int32_t)x13, (int32_t)w13, of->sum3);
  IN_ORDER;
}

// All channels of a window. A function of its own, so that all registers are free for the loops
// over taps.
static __attribute__((noinline)) void convolve_window(const window *from, int32_t channels,
                                                      const int8_t *w, const int32_t *constants,
                                                      int32_t twice_zero_point_and_1,
                                                      int8_t *output) {
  const int32_t last = channels - CHANNELS;
  for (int32_t begin = 0; begin < channels; begin += CHANNELS) {
    // The last four channels may have some of the four before them, again.
    const int32_t channel = begin < last ? begin : last;
    four sums = {constants[0], constants[1], constants[2], constants[3]};
    const int32_t tap_step = from->tap_step;
    const int32_t row_step = from->row_step;
    const int8_t *x = from->first + channel;
    if (from->taps == 3) {  // the most usual: without a loop
      for (const int8_t *end = w + 3 * CHANNELS * from->rows; w != end; w += 3 * CHANNELS) {
        multiply(&sums, x, w);
        multiply(&sums, x + tap_step, w + CHANNELS);
        multiply(&sums, x + 2 * tap_step, w + 2 * CHANNELS);
        x += row_step;
      }
    } else {
      const int32_t taps = from->taps;
      const int32_t row_gap = row_step - taps * tap_step;
      for (int32_t left = from->rows; left > 0; --left) {
        for (const int8_t *end = w + CHANNELS * taps; w != end; w += CHANNELS) {
          multiply(&sums, x, w);
          x += tap_step;
        }
        x += row_gap;
      }
    }
    int8_t *y = output + channel;
    y[0] = narrow(sums.sum0, constants + 4, twice_zero_point_and_1);
    y[1] = narrow(sums.sum1, constants + 6, twice_zero_point_and_1);
    y[2] = narrow(sums.sum2, constants + 8, twice_zero_point_and_1);
    y[3] = narrow(sums.sum3, constants + 10, twice_zero_point_and_1);
    constants += 3 * CHANNELS;
  }
}

// A function of its own: an image with both kernels below links it once.
static __attribute__((noinline)) pl_status run(const pl_context *ctx,
                                               const pl_depthwise_conv2d_params *params,
                                               const pl_depthwise_conv2d_dims *dims,
                                               const pl_depthwise_conv2d_data *data,
                                               pl_gather_window *gather) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t channels = dims->input_c;
  const pl_window_shape shape = {
      .input_h = dims->input_h,
      .input_w = dims->input_w,
      .input_c = channels,
      .kernel_h = dims->kernel_h,
      .kernel_w = dims->kernel_w,
      .dilation_h = params->dilation_h,
      .dilation_w = params->dilation_w,
      .tap_c = channels,
      .zero_point = (int8_t)params->input_zero_point,
  };
  const int32_t twice_zero_point_and_1 = 2 * params->output_zero_point + 1;
  const int32_t row_bytes = dims->input_w * channels;
  const int32_t row_step = params->dilation_h * row_bytes;
  const int is_column = dims->kernel_w == 1;
  const int32_t rows = is_column ? 1 : dims->kernel_h;
  const int32_t taps = is_column ? dims->kernel_h : dims->kernel_w;
  // Windows with the first tap up to here are inside.
  const int32_t last_y = dims->input_h - 1 - (dims->kernel_h - 1) * params->dilation_h;
  const int32_t last_x = dims->input_w - 1 - (dims->kernel_w - 1) * params->dilation_w;

  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t y = oy * params->stride_h - params->pad_top;
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const int32_t x = ox * params->stride_w - params->pad_left;
        window from = {image + y * row_bytes + x * channels, row_step,
                       is_column ? row_step : params->dilation_w * channels, rows, taps};
        if (y < 0 || y > last_y || x < 0 || x > last_x) {
          gather(&shape, image, y, x, ctx->scratch);
          from = (window){ctx->scratch, dims->kernel_w * channels, channels, rows, taps};
        }
        convolve_window(&from, channels, data->weight, data->bias, twice_zero_point_and_1, output);
        output += channels;
      }
    }
    image += dims->input_h * row_bytes;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, (int32_t)(output - data->output), params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}

pl_status pl_depthwise_by_4_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                               const pl_depthwise_conv2d_dims *dims,
                               const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_gather_dense_window_s8);
}

pl_status pl_depthwise_spread_by_4_s8(const pl_context *ctx,
                                      const pl_depthwise_conv2d_params *params,
                                      const pl_depthwise_conv2d_dims *dims,
                                      const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_gather_spread_window_s8);
}
