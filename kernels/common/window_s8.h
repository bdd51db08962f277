// SPDX-License-Identifier: Apache-2.0
// Windows of an NHWC image as matrix rows, for convolutions. Inlined: a window is little work.
#ifndef KERNELS_COMMON_WINDOW_S8_H_
#define KERNELS_COMMON_WINDOW_S8_H_

#include "kernels/common/copy.h"

typedef struct {
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t dilation_h;
  int32_t dilation_w;
  int32_t tap_c;  // channels of a tap: input_c, or those of a group
  int8_t zero_point;
} pl_window_shape;

// Copies the window with the first tap (y0, x0) of an image to [kernel_h, kernel_w, tap_c]. Taps
// outside of the image are read as the zero point.
typedef void pl_gather_window(const pl_window_shape *shape, const int8_t *image, int32_t y0,
                              int32_t x0, int8_t *to);

// Taps next to each other in memory: copies the row's part inside the input, fills the rest.
static inline void pl_gather_dense_row_s8(const pl_window_shape *shape, const int8_t *row,
                                          int32_t x0, int8_t *to) {
  const int32_t tap_c = shape->tap_c;
  int32_t begin = 0;
  int32_t end = shape->kernel_w;
  if (x0 < 0) {
    begin = -x0 < end ? -x0 : end;
    pl_fill_bytes(to, shape->zero_point, begin * tap_c);
  }
  if (x0 + end > shape->input_w) {
    const int32_t inside = shape->input_w - x0 > begin ? shape->input_w - x0 : begin;
    pl_fill_bytes(to + inside * tap_c, shape->zero_point, (end - inside) * tap_c);
    end = inside;
  }
  pl_copy_bytes(to + begin * tap_c, row + (x0 + begin) * tap_c, (end - begin) * tap_c);
}

// A pl_gather_window for adjacent taps in a row: no dilation in width, and all input channels.
static inline void pl_gather_dense_window_s8(const pl_window_shape *shape, const int8_t *image,
                                             int32_t y0, int32_t x0, int8_t *to) {
  const int32_t row_bytes = shape->input_w * shape->input_c;
  const int32_t window_row = shape->kernel_w * shape->tap_c;
  int32_t y = y0;
  for (int32_t ky = 0; ky < shape->kernel_h; ++ky) {
    if (y < 0 || y >= shape->input_h) {
      pl_fill_bytes(to, shape->zero_point, window_row);
    } else {
      pl_gather_dense_row_s8(shape, image + y * row_bytes, x0, to);
    }
    y += shape->dilation_h;
    to += window_row;
  }
}

// The same of any taps.
pl_gather_window pl_gather_spread_window_s8;

// Whichever of both takes fewer instructions.
static inline void pl_gather_window_s8(const pl_window_shape *shape, const int8_t *image,
                                       int32_t y0, int32_t x0, int8_t *to) {
  const int spread = (shape->dilation_w - 1) | (shape->tap_c - shape->input_c);
  if (spread) {
    const pl_window_shape copy = *shape;  // a shape of no address stays in registers below
    pl_gather_spread_window_s8(&copy, image, y0, x0, to);
    return;
  }
  pl_gather_dense_window_s8(shape, image, y0, x0, to);
}

#endif  // KERNELS_COMMON_WINDOW_S8_H_
