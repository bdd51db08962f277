// SPDX-License-Identifier: Apache-2.0
// Image columns shared by the windows of a row. The columns are copied consecutively, each with all
// kernel rows, padding included. The windows are then overlapping runs of bytes.
#ifndef KERNELS_COMMON_WINDOW_COLUMNS_MVE_H_
#define KERNELS_COMMON_WINDOW_COLUMNS_MVE_H_

#include <arm_mve.h>
#include <stdint.h>

#define PL_COLUMN_LANES 16

// Least pixels per vector for a scatter store. Each lane takes as long as one instruction.
#define PL_COLUMN_PIXELS 3

typedef struct {
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;   // bytes of a pixel
  int32_t kernel_h;  // taps of a column
  int32_t dilation_h;
  int32_t dilation_w;  // from column to column
  int32_t tap_c;       // bytes copied per pixel
  int32_t zero_point;
  int32_t together;   // pixels copied per vector
  uint8x16_t places;  // index map of its bytes
} pl_columns_shape;

// Sets `together` and `places` from all other fields. With few channels, a vector holds several
// adjacent pixels. Its last bytes may belong to the first pixel of the next vector.
static inline void pl_set_places(pl_columns_shape *of) {
  const int32_t bytes = of->tap_c;
  const int32_t column = of->kernel_h * bytes;
  const int32_t pixels = PL_COLUMN_LANES / bytes;
  of->together = 1;
  if (pixels < PL_COLUMN_PIXELS || bytes != of->input_c || of->dilation_w != 1) return;
  if (pixels * column + bytes - 1 > UINT8_MAX) return;
  const uint8x16_t lane = vidupq_n_u8(0, 1);
  uint8x16_t places = lane;
  for (int32_t next = bytes; next < PL_COLUMN_LANES; next += bytes) {
    places =
        vaddq_m_n_u8(places, places, (uint8_t)(column - bytes), vcmpcsq_n_u8(lane, (uint8_t)next));
  }
  of->together = pixels;
  of->places = places;
}

// Copies taps of `count` columns. Not inlined: GCC has no registers left for the loops otherwise.
static __attribute__((noinline)) void pl_copy_taps(const pl_columns_shape *of, const int8_t *from,
                                                   int32_t count, int8_t *to) {
  const int32_t bytes = of->tap_c;
  const int32_t to_step = of->kernel_h * bytes;
  if (of->together > 1) {
    const uint8x16_t places = of->places;
    const int32_t read = of->together * bytes;
    const int32_t written = of->together * to_step;
    for (int32_t left = count * bytes; left > 0; left -= read) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      vstrbq_scatter_offset_p_s8(to, places, vldrbq_z_s8(from, lanes), lanes);
      from += read;
      to += written;
    }
    return;
  }
  const int32_t from_step = of->dilation_w * of->input_c;
  if (bytes <= PL_COLUMN_LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)bytes);
    for (; count > 0; --count) {
      vstrbq_p_s8(to, vldrbq_z_s8(from, lanes), lanes);
      from += from_step;
      to += to_step;
    }
    return;
  }
  for (; count > 0; --count) {
    const int8_t *x = from;
    int8_t *y = to;
    for (int32_t left = bytes; left > 0; left -= PL_COLUMN_LANES) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      vstrbq_p_s8(y, vldrbq_z_s8(x, lanes), lanes);
      x += PL_COLUMN_LANES;
      y += PL_COLUMN_LANES;
    }
    from += from_step;
    to += to_step;
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
      pl_copy_taps(of, image + (y * of->input_w + x + begin * step) * of->input_c, end - begin,
                   to + begin * column);
      pl_fill_taps(padding, count - end, of->tap_c, to + end * column, column);
    }
    y += of->dilation_h;
    to += of->tap_c;
  }
}

#endif  // KERNELS_COMMON_WINDOW_COLUMNS_MVE_H_
