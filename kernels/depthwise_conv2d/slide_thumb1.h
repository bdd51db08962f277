// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_DEPTHWISE_CONV2D_SLIDE_THUMB1_H_
#define KERNELS_DEPTHWISE_CONV2D_SLIDE_THUMB1_H_

#include <stdint.h>

// Rows of a 3x3 depthwise convolution, padding included: all channels of some rows of the output.
// The order is that of the loads.
typedef struct {
  const int8_t *row[3];
  int8_t *y;         // of stride 1: two pixels before the output
  int32_t step;      // channels: bytes from a column to the next
  int32_t width;     // output_w * step * stride; of stride 1 with output_w % 3 in the upper byte
  int32_t channels;  // as step
  // By channel: three words of three weights, bias, limit, high, fine, offset; of signed ones also
  // `turn` and the difference of the offset (kernels/common/gemm_taps_s8.h).
  const int32_t *stage;
  int32_t low_xor_top;
  int32_t top;
  int32_t rows;      // of the output
  int32_t row_step;  // bytes from a row of the output to the next: in the input, and in the output
  int32_t y_step;
} pl_slide_call;

typedef void pl_slide(const pl_slide_call *call);
pl_slide pl_depthwise_slide_s8;
pl_slide pl_depthwise_slide_signed_s8;
pl_slide pl_depthwise_slide_2_s8;
pl_slide pl_depthwise_slide_2_signed_s8;

#endif  // KERNELS_DEPTHWISE_CONV2D_SLIDE_THUMB1_H_
