// SPDX-License-Identifier: Apache-2.0
// Windows that overlap in a row. First, the maxima of their columns are written to scratch, with
// the smallest value for columns outside of the image. Then the columns of a window are adjacent
// bytes of a row. Windows one row high and inside the image are already in this form.
#include <arm_mve.h>

#include "kernels/common/copy.h"
#include "kernels/common/pool_s8.h"
#include "kernels/max_pool2d/max_pool2d.h"

#define LANES 16
#define TOGETHER 3

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

static inline void largest_of_3(const int8_t *a, const int8_t *b, const int8_t *c, int32_t count,
                                int8_t *y) {
  for (; count > 0; count -= LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)count);
    const int8x16_t first = vmaxq_s8(vldrbq_z_s8(a, lanes), vldrbq_z_s8(b, lanes));
    vstrbq_p_s8(y, vmaxq_s8(first, vldrbq_z_s8(c, lanes)), lanes);
    a += LANES;
    b += LANES;
    c += LANES;
    y += LANES;
  }
}

// y[i] = maximum of x[i], x[i + step], ... over `taps` values, for i in [0, count). A tail shorter
// than three taps, or than two more, uses one tap twice.
static inline void largest(const int8_t *x, int32_t step, int32_t taps, int32_t count, int8_t *y) {
  const int32_t last = (taps - 1) * step;
  largest_of_3(x, x + smaller(step, last), x + smaller(2 * step, last), count, y);
  for (int32_t at = TOGETHER * step; at <= last; at += 2 * step) {
    largest_of_3(y, x + at, x + smaller(at + step, last), count, y);
  }
}

pl_status pl_max_pool2d_rows_s8(const pl_context *ctx, const pl_max_pool2d_params *params,
                                const pl_max_pool2d_dims *dims, const pl_max_pool2d_data *data) {
  const int32_t channels = dims->input_c;
  const int32_t row_bytes = dims->input_w * channels;
  const int32_t begin = params->pad_left * channels;
  const int32_t width =
      (dims->output_w - 1) * params->stride_w + (dims->kernel_w - 1) * params->dilation_w + 1;
  const int is_row = dims->kernel_h == 1 && begin == 0 && width <= dims->input_w;
  const int32_t bytes = is_row ? 0 : width * channels;
  if (ctx->scratch_size < (uint32_t)bytes) return PL_ERROR_SCRATCH_SIZE;
  int8_t *const columns = ctx->scratch;
  if (!is_row) pl_fill_bytes(columns, INT8_MIN, bytes);

  const int32_t inside = smaller(row_bytes, bytes - begin);
  const int32_t step = params->stride_w * channels;
  // Windows one pixel apart are one, with the channels of all.
  const int32_t together = params->stride_w == 1 ? dims->output_w : 1;
  const int32_t count = together * channels;
  const int32_t column_step = params->dilation_w * channels;
  const int32_t second = smaller(1, dims->kernel_w - 1) * column_step;
  const int32_t third = smaller(2, dims->kernel_w - 1) * column_step;
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_taps y = pl_clip_taps(oy * params->stride_h - params->pad_top, dims->kernel_h,
                                     params->dilation_h, dims->input_h);
      const int8_t *x = image + y.begin * row_bytes;
      if (!is_row) {
        largest(x, params->dilation_h * row_bytes, y.count, inside, columns + begin);
        x = columns;
      }
      for (int32_t left = dims->output_w; left > 0; left -= together, x += step) {
        if (dims->kernel_w <= TOGETHER) {
          largest_of_3(x, x + second, x + third, count, output);
        } else {
          largest(x, column_step, dims->kernel_w, count, output);
        }
        output += count;
      }
    }
    image += dims->input_h * row_bytes;
  }
  return PL_OK;
}
