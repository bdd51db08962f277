// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/pool_s8.h"
#include "kernels/common/requantize.h"

static inline int8_t divide(int32_t sum, int32_t divisor) {
  const int32_t half = divisor / 2;
  return (int8_t)pl_clamp((sum < 0 ? sum - half : sum + half) / divisor, INT8_MIN, INT8_MAX);
}

// x / divisor for 2^32 / divisor, rounded up, as the reciprocal: too large by less than one part in
// 2^32 of the divisor, which does not show in a quotient as long as |x| + divisor / 2 is less than
// the reciprocal.
static inline int32x4_t divide_4(int32x4_t x, int32_t divisor, uint32_t reciprocal) {
  const int32x4_t sign = vshrq_n_s32(x, 31);
  const uint32x4_t n = vreinterpretq_u32_s32(vaddq_n_s32(vabsq_s32(x), divisor / 2));
  const int32x4_t quotient = vreinterpretq_s32_u32(vmulhq_u32(n, vdupq_n_u32(reciprocal)));
  return vsubq_s32(veorq_s32(quotient, sign), sign);
}

// So many int8 fit into a sum of 16 bits.
#define MAX_TAPS 255

void pl_average_window_s8(const pl_pool_window *window, int32_t offset, int32_t divisor,
                          int8_t *output) {
  const uint32_t reciprocal = divisor < 2 ? 0 : UINT32_MAX / (uint32_t)divisor + 1;
  const uint32_t most = (uint32_t)(window->rows * window->columns * -INT8_MIN +
                                   (offset < 0 ? -offset : offset) + divisor);
  const int8_t *first = window->first;
  for (int32_t left = window->channels; left > 0; left -= 8) {
    const mve_pred16_t lanes = vctp16q((uint32_t)left);
    int32x4_t even = vdupq_n_s32(offset);  // channels
    int32x4_t odd = even;
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
          even = vaddq_s32(even, vmovlbq_s16(sum));
          odd = vaddq_s32(odd, vmovltq_s16(sum));
          sum = vdupq_n_s16(0);
          room = MAX_TAPS;
        }
      }
    }
    if (most < reciprocal) {
      const int16x8_t low = vqmovnbq_s32(vdupq_n_s16(0), divide_4(even, divisor, reciprocal));
      const int16x8_t both = vqmovntq_s32(low, divide_4(odd, divisor, reciprocal));
      const int16x8_t y = vminq_s16(vmaxq_s16(both, vdupq_n_s16(INT8_MIN)), vdupq_n_s16(INT8_MAX));
      vstrbq_p_s16(output, y, lanes);
    } else {
      int32_t of[8];
      vst2q_s32(of, ((int32x4x2_t){{even, odd}}));
      const int32_t count = left < 8 ? left : 8;
      for (int32_t i = 0; i < count; ++i) output[i] = divide(of[i], divisor);
    }
    first += 8;
    output += 8;
  }
}
