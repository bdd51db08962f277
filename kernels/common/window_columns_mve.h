// SPDX-License-Identifier: Apache-2.0
// Columns of an image that windows of a row share: copied one behind the other, each with all rows
// of the kernel, padding and all, they are runs that lie over one another.
#ifndef KERNELS_COMMON_WINDOW_COLUMNS_MVE_H_
#define KERNELS_COMMON_WINDOW_COLUMNS_MVE_H_

#include <arm_mve.h>
#include <stdint.h>

#define PL_COLUMN_LANES 16

typedef struct {
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;   // bytes of a pixel
  int32_t kernel_h;  // taps of a column
  int32_t dilation_h;
  int32_t dilation_w;  // from column to column
  int32_t tap_c;       // bytes that are copied of a pixel
  int32_t zero_point;
} pl_columns_shape;

// Copies `count` taps of `bytes` bytes.
static inline void pl_copy_taps(const int8_t *from, int32_t from_step, int32_t count, int32_t bytes,
                                int8_t *to, int32_t to_step) {
  if (bytes == 1) {
    for (; count > 0; --count) {
      *to = *from;
      from += from_step;
      to += to_step;
    }
    return;
  }
  for (; bytes > 0; bytes -= PL_COLUMN_LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)bytes);
    const int8_t *x = from;
    int8_t *y = to;
    for (int32_t left = count; left > 0; --left) {
      vstrbq_p_s8(y, vldrbq_z_s8(x, lanes), lanes);
      x += from_step;
      y += to_step;
    }
    from += PL_COLUMN_LANES;
    to += PL_COLUMN_LANES;
  }
}

static inline void pl_fill_taps(int8x16_t value, int32_t count, int32_t bytes, int8_t *to,
                                int32_t to_step) {
  for (; count > 0; --count) {
    int8_t *y = to;
    for (int32_t left = bytes; left > 0; left -= PL_COLUMN_LANES) {
      vstrbq_p_s8(y, value, vctp8q((uint32_t)left));
      y += PL_COLUMN_LANES;
    }
    to += to_step;
  }
}

// Columns of taps (y, x), (y, x + dilation), … of an image, to [count][kernel_h][tap_c].
static inline void pl_copy_columns(const pl_columns_shape *of, const int8_t *image, int32_t y,
                                   int32_t x, int32_t count, int8_t *to) {
  const int32_t step = of->dilation_w;
  const int32_t column = of->kernel_h * of->tap_c;
  const int32_t outside = x < 0 ? (step - 1 - x) / step : 0;
  const int32_t within = x < of->input_w ? (of->input_w - 1 - x) / step + 1 : 0;
  const int32_t begin = outside < count ? outside : count;
  const int32_t end = within < begin ? begin : within < count ? within : count;
  const int8x16_t padding = vdupq_n_s8((int8_t)of->zero_point);
  for (int32_t ky = of->kernel_h; ky > 0; --ky) {
    if (y < 0 || y >= of->input_h) {
      pl_fill_taps(padding, count, of->tap_c, to, column);
    } else {
      pl_fill_taps(padding, begin, of->tap_c, to, column);
      pl_copy_taps(image + (y * of->input_w + x + begin * step) * of->input_c, step * of->input_c,
                   end - begin, of->tap_c, to + begin * column, column);
      pl_fill_taps(padding, count - end, of->tap_c, to + end * column, column);
    }
    y += of->dilation_h;
    to += of->tap_c;
  }
}

#endif  // KERNELS_COMMON_WINDOW_COLUMNS_MVE_H_
