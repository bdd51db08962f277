// SPDX-License-Identifier: Apache-2.0
// Windows that overlap in a row. The sums of their columns are computed first, as 16 bits in
// scratch, with 0 for columns outside of the image. Then the column sums of a window are adjacent
// and are added.
#include "kernels/avg_pool2d/avg_pool2d.h"
#include "kernels/common/average_mve.h"
#include "kernels/common/copy.h"
#include "kernels/common/pool_s8.h"

#define LANES 8

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// y = x + x[step] + x[2 * step], or y = x.
static inline void begin_sum(const int8_t *x, int32_t step, int is_of_3, int32_t count,
                             int16_t *y) {
  const int8_t *second = x + step;
  const int8_t *third = second + step;
  for (; count > 0; count -= LANES) {
    const mve_pred16_t lanes = vctp16q((uint32_t)count);
    int16x8_t sum = vldrbq_z_s16(x, lanes);
    if (is_of_3) {
      sum = vaddq_s16(sum, vldrbq_z_s16(second, lanes));
      sum = vaddq_s16(sum, vldrbq_z_s16(third, lanes));
    }
    vstrhq_p_s16(y, sum, lanes);
    x += LANES;
    second += LANES;
    third += LANES;
    y += LANES;
  }
}

static inline void add(const int8_t *x, int32_t count, int16_t *y) {
  for (; count > 0; count -= LANES) {
    const mve_pred16_t lanes = vctp16q((uint32_t)count);
    vstrhq_p_s16(y, vaddq_s16(vldrhq_z_s16(y, lanes), vldrbq_z_s16(x, lanes)), lanes);
    x += LANES;
    y += LANES;
  }
}

// y[i] = x[i] + x[i + step] + ..., so many taps, for i in [0, count).
static void sum(const int8_t *x, int32_t step, int32_t taps, int32_t count, int16_t *y) {
  int32_t at = 3;
  if (taps >= at) {
    begin_sum(x, step, 1, count, y);
  } else {
    begin_sum(x, 0, 0, count, y);
    at = 1;
  }
  for (; at < taps; ++at) add(x + at * step, count, y);
}

static inline int16x8_t divide(int16x8_t sum, const pl_average_mve *by) {
  return pl_average(vaddq_n_u16(vreinterpretq_u16_s16(sum), by->start), *by);
}

// Averages of adjacent windows with this number of columns, `step` values apart.
static inline void average_of_3(const int16_t *x, int32_t step, int32_t count,
                                const pl_average_mve *by, int8_t *y) {
  const int16_t *second = x + step;
  const int16_t *third = second + step;
  for (; count > 0; count -= LANES) {
    const mve_pred16_t lanes = vctp16q((uint32_t)count);
    const int16x8_t two = vaddq_s16(vldrhq_z_s16(x, lanes), vldrhq_z_s16(second, lanes));
    vstrbq_p_s16(y, divide(vaddq_s16(two, vldrhq_z_s16(third, lanes)), by), lanes);
    x += LANES;
    second += LANES;
    third += LANES;
    y += LANES;
  }
}

static inline void average(const int16_t *x, int32_t step, int32_t taps, int32_t count,
                           const pl_average_mve *by, int8_t *y) {
  for (; count > 0; count -= LANES) {
    const mve_pred16_t lanes = vctp16q((uint32_t)count);
    int16x8_t sum = vldrhq_z_s16(x, lanes);
    for (int32_t at = 1; at < taps; ++at) {
      sum = vaddq_s16(sum, vldrhq_z_s16(x + at * step, lanes));
    }
    vstrbq_p_s16(y, divide(sum, by), lanes);
    x += LANES;
    y += LANES;
  }
}

pl_status pl_avg_pool2d_rows_s8(const pl_context *ctx, const pl_avg_pool2d_params *params,
                                const pl_avg_pool2d_dims *dims, const pl_avg_pool2d_data *data) {
  const int32_t channels = dims->input_c;
  const int32_t row_bytes = dims->input_w * channels;
  const int32_t begin = params->pad_left * channels;
  const int32_t width = (dims->output_w - 1) * params->stride_w + dims->kernel_w;
  const int32_t values = width * channels;
  if (ctx->scratch_size < 2 * (uint32_t)values) return PL_ERROR_SCRATCH_SIZE;
  int16_t *const columns = ctx->scratch;
  pl_fill_bytes(ctx->scratch, 0, 2 * values);

  const int32_t inside = smaller(row_bytes, values - begin);
  const int32_t step = params->stride_w * channels;
  const pl_whole_windows whole = pl_whole_windows_of(params->pad_left, params->stride_w,
                                                     dims->kernel_w, dims->input_w, dims->output_w);
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t top = oy * params->stride_h - params->pad_top;
      const int32_t height = smaller(dims->kernel_h, dims->input_h + params->pad_bottom - top);
      const pl_taps y = pl_clip_taps(top, dims->kernel_h, 1, dims->input_h);
      sum(image + y.begin * row_bytes, row_bytes, y.count, inside, columns + begin);
      const int16_t *x = columns;
      for (int32_t ox = 0; ox < dims->output_w;) {
        // Windows one pixel apart are one, with the channels of all.
        const int32_t together = pl_windows_together(whole, ox);
        const int32_t merged = params->stride_w == 1 ? together : 1;
        const int32_t left = ox * params->stride_w - params->pad_left;
        const int32_t across = smaller(dims->kernel_w, dims->input_w + params->pad_right - left);
        const int32_t taps = y.count * pl_clip_taps(left, dims->kernel_w, 1, dims->input_w).count;
        const int32_t counted = params->count_include_pad ? height * across : taps;
        const int32_t d = params->divisor_override > 0 ? params->divisor_override : counted;
        const pl_average_mve by = pl_average_of(d, (d - taps) * params->zero_point);
        for (int32_t i = 0; i < together; i += merged, x += merged * step) {
          if (dims->kernel_w == 3) {
            average_of_3(x, channels, merged * channels, &by, output);
          } else {
            average(x, channels, dims->kernel_w, merged * channels, &by, output);
          }
          output += merged * channels;
        }
        ox += together;
      }
    }
    image += dims->input_h * row_bytes;
  }
  return PL_OK;
}
