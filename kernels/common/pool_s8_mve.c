// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/pool_s8.h"
#include "kernels/common/requantize.h"

void pl_max_window_s8(const pl_pool_window *window, int8_t *output) {
  const int8_t *first = window->first;
  for (int32_t left = window->channels; left > 0; left -= 16) {
    const mve_pred16_t lanes = vctp8q((uint32_t)left);
    int8x16_t max = vdupq_n_s8(INT8_MIN);
    const int8_t *row_first = first;
    for (int32_t row = window->rows; row > 0; --row, row_first += window->row_step) {
      const int8_t *x = row_first;
      for (int32_t column = window->columns; column > 0; --column, x += window->column_step) {
        max = vmaxq_s8(max, vldrbq_z_s8(x, lanes));
      }
    }
    vstrbq_p_s8(output, max, lanes);
    first += 16;
    output += 16;
  }
}

static inline int8_t divide(int32_t sum, int32_t divisor) {
  const int32_t half = divisor / 2;
  return (int8_t)pl_clamp((sum < 0 ? sum - half : sum + half) / divisor, INT8_MIN, INT8_MAX);
}

// So many int8 fit into a sum of 16 bits.
#define MAX_TAPS 255

void pl_average_window_s8(const pl_pool_window *window, int32_t offset, int32_t divisor,
                          int8_t *output) {
  const int8_t *first = window->first;
  for (int32_t left = window->channels; left > 0; left -= 8) {
    const mve_pred16_t lanes = vctp16q((uint32_t)left);
    int32x4_t sums[2] = {vdupq_n_s32(offset), vdupq_n_s32(offset)};  // of even and odd channels
    int16x8_t sum = vdupq_n_s16(0);
    int32_t room = MAX_TAPS;
    const int8_t *row_first = first;
    for (int32_t row = window->rows; row > 0; --row, row_first += window->row_step) {
      const int8_t *x = row_first;
      for (int32_t columns = window->columns; columns > 0;) {
        const int32_t taps = columns < room ? columns : room;
        for (int32_t tap = taps; tap > 0; --tap, x += window->column_step) {
          sum = vaddq_s16(sum, vldrbq_z_s16(x, lanes));
        }
        columns -= taps;
        room -= taps;
        if (room == 0 || (row == 1 && columns == 0)) {
          sums[0] = vaddq_s32(sums[0], vmovlbq_s16(sum));
          sums[1] = vaddq_s32(sums[1], vmovltq_s16(sum));
          sum = vdupq_n_s16(0);
          room = MAX_TAPS;
        }
      }
    }
    int32_t of[8];
    vst2q_s32(of, ((int32x4x2_t){{sums[0], sums[1]}}));
    const int32_t count = left < 8 ? left : 8;
    for (int32_t i = 0; i < count; ++i) output[i] = divide(of[i], divisor);
    first += 8;
    output += 8;
  }
}
