// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RESIZE_BILINEAR_TAPS_H_
#define KERNELS_RESIZE_BILINEAR_TAPS_H_

#include <stdint.h>

// Two neighbours along an axis and their weights. The second may equal the first.
typedef struct {
  int32_t first;  // its offset in elements
  int32_t second;
  int32_t first_weight;
  int32_t second_weight;
} pl_taps;

static inline pl_taps pl_taps_at(int32_t place, int32_t unit, int32_t size, int32_t step) {
  const int32_t last = (size - 1) * unit;
  if (place < 0) place = 0;
  if (place > last) place = last;
  const int32_t index = place / unit;
  const int32_t weight = place - index * unit;
  const int32_t first = index * step;
  return (pl_taps){first, weight > 0 ? first + step : first, unit - weight, weight};
}

#endif  // KERNELS_RESIZE_BILINEAR_TAPS_H_
