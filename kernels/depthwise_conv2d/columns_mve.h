// SPDX-License-Identifier: Apache-2.0
// Columns of an image, copied to a plane for each channel.
#ifndef KERNELS_DEPTHWISE_CONV2D_COLUMNS_MVE_H_
#define KERNELS_DEPTHWISE_CONV2D_COLUMNS_MVE_H_

#include <arm_mve.h>

#include "kernels/depthwise_conv2d/depthwise_columns.h"

#define PLANES 16

// Windows with their columns together in scratch.
typedef struct {
  int32_t rows;
  int32_t windows;  // of a row
  int32_t columns;  // in a row of them
  int32_t row;      // bytes of a plane's row
  int32_t plane;    // bytes
} part;

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// Pixels of rows of the image, each to a byte of each plane: offsets of the first in both.
typedef struct {
  int32_t from;
  int32_t to;
  int32_t rows;
  int32_t count;  // of a row
} run;

typedef struct {
  const run *runs;  // in scratch, before the planes
  int32_t count;
  int32_t from_step;  // from pixel to pixel
  int32_t from_row;   // from row to row
  int32_t to_step;
  int32_t to_row;
  int32_t plane;
} copies;

// Destination of each lane of a pixel.
typedef struct {
  uint16x8_t from;  // for copy_repeated
  uint16x8_t to;
  uint16x8_t to_high;  // for copy_16
  mve_pred16_t lanes;
} places;

typedef void copy_pixel(const places *at, const int8_t *from, int8_t *to);

PL_INLINE void copy_pixels(const copies *of, places at, const int8_t *image, int8_t *planes,
                           copy_pixel *copy_one) {
  const int32_t from_step = of->from_step;
  const int32_t to_step = of->to_step;
  const run *next = of->runs;
  for (int32_t i = of->count; i > 0; --i) {
    const int8_t *from_row = image + next->from;
    int8_t *to_row = planes + next->to;
    for (int32_t row = next->rows; row > 0; --row) {
      const int8_t *from = from_row;
      int8_t *to = to_row;
      for (int32_t left = next->count; left > 0; --left) {
        copy_one(&at, from, to);
        from += from_step;
        to += to_step;
      }
      from_row += of->from_row;
      to_row += of->to_row;
    }
    ++next;
  }
}

// The planes of eight channels.
static inline uint16x8_t planes_at(const copies *of) {
  return vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)of->plane);
}

static inline void copy_pixel_16(const places *at, const int8_t *from, int8_t *to) {
  int16x8_t low;
  int16x8_t high;
  // GCC would move the address.
  __asm__("vldrb.s16 %q0, [%2]\n\tvldrb.s16 %q1, [%2, #8]"
          : "=&w"(low), "=w"(high)
          : "l"(from), "m"(*(const int8_t (*)[PLANES])from));
  vstrbq_scatter_offset_s16(to, at->to, low);
  vstrbq_scatter_offset_s16(to, at->to_high, high);
}

static __attribute__((noinline)) void copy_16(const copies *of, const int8_t *image,
                                              int8_t *planes) {
  const uint16x8_t low = planes_at(of);
  const uint16x8_t high = vaddq_n_u16(low, (uint16_t)(PLANES / 2 * of->plane));
  copy_pixels(of, (places){.to = low, .to_high = high}, image, planes, copy_pixel_16);
}

static inline void copy_pixel_8(const places *at, const int8_t *from, int8_t *to) {
  vstrbq_scatter_offset_p_s16(to, at->to, vldrbq_z_s16(from, at->lanes), at->lanes);
}

// Up to eight channels.
static __attribute__((noinline)) void copy_8(const copies *of, const int8_t *image, int8_t *planes,
                                             uint32_t channels) {
  const places at = {.to = planes_at(of), .lanes = vctp16q(channels)};
  copy_pixels(of, at, image, planes, copy_pixel_8);
}

static inline void copy_pixel_repeated(const places *at, const int8_t *from, int8_t *to) {
  const int16x8_t x = vldrbq_gather_offset_z_s16(from, at->from, at->lanes);
  vstrbq_scatter_offset_p_s16(to, at->to, x, at->lanes);
}

// Up to sixteen output channels, starting at `first`, from their input channels.
static __attribute__((noinline)) void copy_repeated(const copies *of, const int8_t *image,
                                                    int8_t *planes, int32_t first, int32_t repeats,
                                                    int32_t channels) {
  uint16_t sources[PLANES];
  int32_t source = first / repeats;
  int32_t left = (source + 1) * repeats - first;
  for (int32_t i = 0; i < PLANES; ++i) {
    sources[i] = (uint16_t)source;
    if (--left == 0) {
      left = repeats;
      ++source;
    }
  }
  for (int32_t half = 0; half < channels && half < PLANES; half += PLANES / 2) {
    const places at = {.from = vldrhq_u16(sources + half),
                       .to = planes_at(of),
                       .lanes = vctp16q((uint32_t)(channels - half))};
    copy_pixels(of, at, image, planes + half * of->plane, copy_pixel_repeated);
  }
}

static inline void copy(const copies *of, const int8_t *image, int8_t *planes, int32_t channels) {
  if (channels >= PLANES) {
    copy_16(of, image, planes);
    return;
  }
  copy_8(of, image, planes, (uint32_t)channels);
  const int32_t more = channels - PLANES / 2;
  if (more > 0) {
    copy_8(of, image + PLANES / 2, planes + PLANES / 2 * of->plane, (uint32_t)more);
  }
}

// Returns whether all columns in the reach of a row of windows are copied. Otherwise each window's
// columns are copied separately: other columns lie between its taps, or between windows of one
// column.
static inline int is_dense(const pl_depthwise_columns_params *params,
                           const pl_depthwise_columns_dims *dims) {
  return params->dilation_w == 1 && (params->stride_w == 1 || dims->kernel_w > 1);
}

// Number of positions before the end, from `start` in steps of `step`.
static inline int32_t before(int32_t end, int32_t start, int32_t step) {
  return end > start ? (end - start + step - 1) / step : 0;
}

// The pixels of a part with the first window at oy, ox. Pixels outside of the image are left out.
static copies copies_of(const pl_depthwise_columns_params *params,
                        const pl_depthwise_columns_dims *dims, const part *of, int32_t oy,
                        int32_t ox, run *runs) {
  const int dense = is_dense(params, dims);
  const int32_t input_row = dims->input_w * dims->input_c;
  // Columns copied together: all, or those of one tap.
  const int32_t x_step = dense ? 1 : params->stride_w;
  const int32_t count = dense ? of->columns : of->windows;
  copies all = {
      .runs = runs,
      .from_step = x_step * dims->input_c,
      .from_row = params->stride_h * input_row,
      .to_step = dense ? dims->kernel_h : dims->kernel_h * dims->kernel_w,
      .to_row = of->row,
      .plane = of->plane,
  };
  for (int32_t kx = 0; kx < (dense ? 1 : dims->kernel_w); ++kx) {
    const int32_t x = ox * params->stride_w - params->pad_left + kx * params->dilation_w;
    const int32_t left = before(0, x, x_step);
    const int32_t inside = smaller(count, before(dims->input_w, x, x_step)) - left;
    for (int32_t ky = 0; ky < dims->kernel_h; ++ky) {
      const int32_t y = oy * params->stride_h - params->pad_top + ky * params->dilation_h;
      const int32_t above = before(0, y, params->stride_h);
      const int32_t rows = smaller(of->rows, before(dims->input_h, y, params->stride_h)) - above;
      if (inside <= 0 || rows <= 0) continue;
      runs[all.count++] = (run){
          .from = (y + above * params->stride_h) * input_row + (x + left * x_step) * dims->input_c,
          .to = above * of->row + left * all.to_step + kx * dims->kernel_h + ky,
          .rows = rows,
          .count = inside,
      };
    }
  }
  return all;
}

#endif  // KERNELS_DEPTHWISE_CONV2D_COLUMNS_MVE_H_
