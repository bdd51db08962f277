// SPDX-License-Identifier: Apache-2.0
// Rows of broadcast operands, for loops over vectors. If one value is repeated for a whole row, the
// loop reads the same vector of it each time. Short rows are combined.
#ifndef KERNELS_COMMON_OPERANDS_MVE_H_
#define KERNELS_COMMON_OPERANDS_MVE_H_

#include <arm_mve.h>

#include "kernels/common/broadcast.h"
#include "kernels/common/types.h"

// Read address of a row: x if its elements are `step` = 1 apart, else, with a step of 0,
// `repeated`. A loop advances by step times its lanes.
static inline const int8_t *pl_row_s8(const int8_t *x, int32_t step, int8_t repeated[16]) {
  if (step != 0) return x;
  vst1q_s8(repeated, vdupq_n_s8(*x));
  return repeated;
}

static inline const int16_t *pl_row_s16(const int16_t *x, int32_t step, int16_t repeated[8]) {
  if (step != 0) return x;
  vst1q_s16(repeated, vdupq_n_s16(*x));
  return repeated;
}

static inline const int32_t *pl_row_s32(const int32_t *x, int32_t step, int32_t repeated[4]) {
  if (step != 0) return x;
  vst1q_s32(repeated, vdupq_n_s32(*x));
  return repeated;
}

// Rows of up to a vector are copied to a contiguous strip, unless they already are contiguous.
#define PL_SHORT_ROW 8
#define PL_STRIP 64

typedef struct {
  int8_t bytes[PL_STRIP + 16];  // the last row is stored as a whole vector, be it of one byte
} pl_strip_s8;

// Rows of an elementwise op. Elements of a are contiguous. So are those of b with a step of 1; with
// 0, b is one value for the whole row.
typedef struct {
  const int8_t *a;
  const int8_t *b;
  int8_t *output;
  int32_t size;  // of a row
  int32_t rows;
  int32_t a_stride;  // from row to row
  int32_t b_stride;
  int32_t b_step;
} pl_rows_s8;

// `rows` rows of `size` elements, `step` apart, the rows `stride` apart.
static inline const int8_t *pl_strip_of_s8(const int8_t *x, int32_t step, int32_t stride,
                                           int32_t size, int32_t rows, pl_strip_s8 *strip) {
  if (step != 0 && stride == size) return x;
  const mve_pred16_t lanes = vctp8q((uint32_t)size);
  int8_t *to = strip->bytes;
  for (; rows > 0; --rows) {
    vstrbq_s8(to, step != 0 ? vldrbq_z_s8(x, lanes) : vdupq_n_s8(*x));
    x += stride;
    to += size;
  }
  return strip->bytes;
}

PL_INLINE void pl_op_on_strips_s8(const pl_rows_s8 *of,
                                  void (*op)(const void *params, const pl_rows_s8 *rows),
                                  const void *params) {
  const int32_t together = PL_STRIP / of->size;
  pl_strip_s8 a;
  pl_strip_s8 b;
  pl_rows_s8 strip = {.output = of->output, .rows = 1, .b_step = 1};
  const int8_t *x = of->a;
  const int8_t *y = of->b;
  for (int32_t left = of->rows; left > 0; left -= together) {
    const int32_t count = left < together ? left : together;
    strip.size = count * of->size;
    strip.a = pl_strip_of_s8(x, 1, of->a_stride, of->size, count, &a);
    strip.b = pl_strip_of_s8(y, of->b_step, of->b_stride, of->size, count, &b);
    op(params, &strip);
    x += count * of->a_stride;
    y += count * of->b_stride;
    strip.output += strip.size;
  }
}

// Calls `op` for all rows; in the innermost dimension a has stride 1, b stride 1 or 0. `op` is a
// constant where this is inlined.
PL_INLINE void pl_broadcast_rows_s8(const pl_broadcast_dims *dims, const int8_t *a, const int8_t *b,
                                    int8_t *output,
                                    void (*op)(const void *params, const pl_rows_s8 *rows),
                                    const void *params) {
  const int32_t inner = PL_BROADCAST_DIMS - 1;
  pl_rows_s8 rows = {
      .a = a,
      .b = b,
      .output = output,
      .size = dims->size[inner],
      .rows = dims->size[inner - 1],
      .a_stride = dims->a_stride[inner - 1],
      .b_stride = dims->b_stride[inner - 1],
      .b_step = dims->b_stride[inner],
  };
  int32_t outer = dims->size[0] * dims->size[1] * dims->size[2];
  const int32_t result = rows.size * rows.rows;
  const int is_short = rows.size <= PL_SHORT_ROW && rows.rows > 1;
  pl_broadcast_row at = {0};
  for (;;) {
    if (is_short) {
      pl_op_on_strips_s8(&rows, op, params);
    } else {
      op(params, &rows);
    }
    if (--outer == 0) return;
    at.a += rows.rows * rows.a_stride;
    at.b += rows.rows * rows.b_stride;
    (void)pl_broadcast_carry(dims, &at);
    rows.a = a + at.a;
    rows.b = b + at.b;
    rows.output += result;
  }
}

#endif  // KERNELS_COMMON_OPERANDS_MVE_H_
