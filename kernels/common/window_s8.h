// SPDX-License-Identifier: Apache-2.0
// Windows of an NHWC image as matrix rows, for convolutions.
#ifndef KERNELS_COMMON_WINDOW_S8_H_
#define KERNELS_COMMON_WINDOW_S8_H_

#include <stdint.h>

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

// Copies the window whose first tap is (y0, x0) of an image to [kernel_h, kernel_w, tap_c]; taps
// outside of the image are read as the zero point.
void pl_gather_window_s8(const pl_window_shape *shape, const int8_t *image, int32_t y0, int32_t x0,
                         int8_t *to);

#endif  // KERNELS_COMMON_WINDOW_S8_H_
