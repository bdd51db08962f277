// SPDX-License-Identifier: Apache-2.0
// Windows that overlap in a row: the sums of their columns come first, as 16 bits in scratch, with
// 0 for columns outside of the image; then those of a window are next to each other in a row.
#include <arm_mve.h>

#include "kernels/avg_pool2d/avg_pool2d.h"
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

// What becomes of sums x whose quotients by a divisor d of 2 to 255 are int8. n = x + 128 * d +
// d / 2 is not negative, and floor(n / d) - 128 is nearest; a tie of a negative x is to go down: n
// is less by 1.
//   floor(n / d) = floor((n + again) * reciprocal / 2^(16 + right)), n + again < 2^16,
// where 2^right < d <= 2^(right+1), and the reciprocal 2^(16 + right) / d is rounded up, or, if it
// then is more than 2^right / d too large, down, with again = 1.
typedef struct {
  int16x8_t tie;  // all bits, if there are any
  uint16x8_t reciprocal;
  int16_t offset;  // of x
  int16_t zero;    // what n + again is less x, without ties
  int32_t shift;   // -right
} divisor;

static inline divisor divisor_of(int32_t d, int32_t offset) {
  const int32_t right = 31 - __builtin_clz((uint32_t)d - 1);
  const uint32_t whole = UINT32_C(1) << (16 + right);
  const uint32_t rest = whole % (uint32_t)d;
  const uint32_t again = rest > 0 && (uint32_t)d - rest > UINT32_C(1) << right;
  const uint32_t up = rest > 0 && again == 0;
  return (divisor){
      .tie = vdupq_n_s16(d % 2 == 0 ? -1 : 0),
      .reciprocal = vdupq_n_u16((uint16_t)(whole / (uint32_t)d + up)),
      .offset = (int16_t)offset,
      .zero = (int16_t)(-INT8_MIN * d + d / 2 + (int32_t)again),
      .shift = -right,
  };
}

static inline int16x8_t divide(int16x8_t sum, const divisor *by) {
  const int16x8_t x = vaddq_n_s16(sum, by->offset);
  const int16x8_t down = vandq_s16(vshrq_n_s16(x, 15), by->tie);
  const int16x8_t n = vaddq_s16(vaddq_n_s16(x, by->zero), down);
  const uint16x8_t high = vmulhq_u16(vreinterpretq_u16_s16(n), by->reciprocal);
  return vsubq_n_s16(vreinterpretq_s16_u16(vshlq_r_u16(high, by->shift)), -INT8_MIN);
}

// The averages of windows of so many columns, `step` values apart, beside each other.
static inline void average_of_3(const int16_t *x, int32_t step, int32_t count, const divisor *by,
                                int8_t *y) {
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
                           const divisor *by, int8_t *y) {
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
        const divisor by = divisor_of(d, (d - taps) * params->zero_point);
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
