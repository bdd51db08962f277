// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/window_s8.h"

// Most bytes of a tap copied inline. A call takes longer for so few bytes.
#define FEW_BYTES 7

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// Number of taps of a row starting in the next `width` pixels.
static inline int32_t taps_within(const pl_window_shape *shape, int32_t width) {
  const int32_t dilation = shape->dilation_w;
  const int32_t taps = dilation == 1 ? width : (width + dilation - 1) / dilation;
  return width <= 0 ? 0 : smaller(taps, shape->kernel_w);
}

void pl_gather_spread_window_s8(const pl_window_shape *shape, const int8_t *image, int32_t y0,
                                int32_t x0, int8_t *to) {
  const int32_t tap_c = shape->tap_c;
  const int32_t step = shape->dilation_w * shape->input_c;
  const int32_t before = taps_within(shape, -x0);
  const int32_t inside = taps_within(shape, shape->input_w - x0) - before;
  const int32_t behind = shape->kernel_w - before - inside;
  int32_t y = y0;
  for (int32_t rows = shape->kernel_h; rows > 0; --rows, y += shape->dilation_h) {
    if (y < 0 || y >= shape->input_h) {
      pl_fill_bytes(to, shape->zero_point, shape->kernel_w * tap_c);
      to += shape->kernel_w * tap_c;
      continue;
    }
    if (before > 0) {
      pl_fill_bytes(to, shape->zero_point, before * tap_c);
      to += before * tap_c;
    }
    const int8_t *from = image + (y * shape->input_w + x0) * shape->input_c + before * step;
    if (tap_c <= FEW_BYTES) {
      for (int32_t left = inside; left > 0; --left, from += step) {
        const int8_t *x = from;
        for (const int8_t *end = x + tap_c; x != end;) *to++ = *x++;
      }
    } else {
      for (int32_t left = inside; left > 0; --left, from += step, to += tap_c) {
        pl_copy_bytes(to, from, tap_c);
      }
    }
    if (behind > 0) {
      pl_fill_bytes(to, shape->zero_point, behind * tap_c);
      to += behind * tap_c;
    }
  }
}
