// SPDX-License-Identifier: Apache-2.0
// Windows of mean_pool2d, and the factors of their sums.
#ifndef KERNELS_MEAN_POOL2D_WINDOWS_H_
#define KERNELS_MEAN_POOL2D_WINDOWS_H_

#include "kernels/common/mean_window_s8.h"
#include "kernels/mean_pool2d/mean_pool2d.h"

// A window along one axis: where it begins, how many elements of the input it has, and how many
// count as its length.
typedef struct {
  int32_t begin;
  int32_t taps;
  int32_t counted;
} pl_mean_span;

typedef struct {
  int32_t stride;
  int32_t parts;
  int32_t kernel;
  int32_t before;  // padding
  int32_t after;
  int32_t size;  // of the input
  int32_t include_pad;
} pl_mean_axis;

static inline pl_mean_span pl_mean_span_of(const pl_mean_axis *axis, int32_t index) {
  int32_t begin = index * axis->stride;
  int32_t end = begin + axis->kernel;
  if (axis->parts > 1) {
    begin = begin / axis->parts;
    end = (end + axis->parts - 1) / axis->parts;
  }
  begin -= axis->before;
  end -= axis->before;
  end = end < axis->size + axis->after ? end : axis->size + axis->after;
  const int32_t first = begin > 0 ? begin : 0;
  const int32_t taps = (end < axis->size ? end : axis->size) - first;
  return (pl_mean_span){first, taps, axis->include_pad ? end - begin : taps};
}

static inline pl_mean_axis pl_mean_rows_axis(const pl_mean_pool2d_params *params,
                                             const pl_mean_pool2d_dims *dims) {
  return (pl_mean_axis){params->stride_h,         params->parts_h,    dims->kernel_h,
                        params->pad_top,          params->pad_bottom, dims->input_h,
                        params->count_include_pad};
}

static inline pl_mean_axis pl_mean_columns_axis(const pl_mean_pool2d_params *params,
                                                const pl_mean_pool2d_dims *dims) {
  return (pl_mean_axis){params->stride_w,         params->parts_w,   dims->kernel_w,
                        params->pad_left,         params->pad_right, dims->input_w,
                        params->count_include_pad};
}

// Divides the factor by a count below 2^16: multiplier * 2^bits / count, without the remainder.
// 2^bits is the largest power of two up to count, within the room of shift.
static inline void pl_divide_factor(const pl_mean_pool2d_params *params, uint32_t count,
                                    pl_mean_stage *mean) {
  const uint32_t room = (uint32_t)(params->shift + 31);
  uint32_t bits = 0;
  while (bits < room && count >> bits > 1) ++bits;
  const uint32_t whole = (uint32_t)params->multiplier / count;
  const uint32_t rest = (uint32_t)params->multiplier % count;
  mean->multiplier = (int32_t)((whole << bits) + (rest << bits) / count);
  mean->shift = params->shift - (int32_t)bits;
}

typedef struct {
  pl_mean_stage stage;
  int32_t divisor;  // divisor of the factor; 0: none yet
} pl_window_mean;

// Sets it to the factor of a window.
static inline void pl_mean_over(pl_window_mean *mean, const pl_mean_pool2d_params *params,
                                pl_mean_span y, pl_mean_span x) {
  mean->stage.offset = -params->input_zero_point * y.taps * x.taps;
  const int32_t divisor = params->by_count ? y.counted * x.counted : 1;
  if (divisor != mean->divisor) {
    mean->divisor = divisor;
    pl_divide_factor(params, (uint32_t)divisor, &mean->stage);
  }
}

#endif  // KERNELS_MEAN_POOL2D_WINDOWS_H_
