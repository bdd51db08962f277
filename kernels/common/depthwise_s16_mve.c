// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/depthwise_s16.h"

#define LANES 8

// Eight channels: VMULLB and VMULLT multiply the even and the odd ones. Weights are widened as they
// are loaded. Constants are loaded in the same order. Lanes after the last channel get that
// channel's constants. VRSHL of the product's high half rounds like pl_wide_narrow_high.
void pl_depthwise_window_s16(const pl_depthwise_s16 *of, const pl_depthwise_taps *taps,
                             int16_t *output) {
  const uint32x4_t evens = vidupq_n_u32(0, 2);
  const uint32x4_t odds = vaddq_n_u32(evens, 1);
  const int16x8_t minimum = vdupq_n_s16((int16_t)of->minimum);
  const int16x8_t maximum = vdupq_n_s16((int16_t)of->maximum);
  for (int32_t c = 0; c < of->channels; c += LANES) {
    const int32_t left = of->channels - c;
    const mve_pred16_t lanes = vctp16q((uint32_t)left);
    const uint32x4_t last = vdupq_n_u32((uint32_t)left - 1);
    const uint32x4_t even = vminq_u32(evens, last);
    const uint32x4_t odd = vminq_u32(odds, last);
    int32x4_t sum0 = vldrwq_gather_shifted_offset_s32(of->bias + c, even);
    int32x4_t sum1 = vldrwq_gather_shifted_offset_s32(of->bias + c, odd);
    const int16_t *row = taps->first + c;
    const int8_t *weight = taps->weight + c;
    for (int32_t rows = taps->rows; rows > 0; --rows) {
      const int16_t *x = row;
      const int8_t *w = weight;
      for (int32_t columns = taps->columns; columns > 0; --columns) {
        const int16x8_t xs = vldrhq_z_s16(x, lanes);
        const int16x8_t ws = vldrbq_z_s16(w, lanes);
        sum0 = vaddq_s32(sum0, vmullbq_int_s16(xs, ws));
        sum1 = vaddq_s32(sum1, vmulltq_int_s16(xs, ws));
        x += of->column_step;
        w += of->channels;
      }
      row += of->row_step;
      weight += of->weight_step;
    }
    const int32_t *multiplier = of->multiplier + c;
    const int32_t *right = of->right + c;
    sum0 = vmulhq_s32(sum0, vldrwq_gather_shifted_offset_s32(multiplier, even));
    sum1 = vmulhq_s32(sum1, vldrwq_gather_shifted_offset_s32(multiplier, odd));
    sum0 = vrshlq_s32(sum0, vnegq_s32(vldrwq_gather_shifted_offset_s32(right, even)));
    sum1 = vrshlq_s32(sum1, vnegq_s32(vldrwq_gather_shifted_offset_s32(right, odd)));
    const int16x8_t low = vqmovnbq_s32(vreinterpretq_s16_s32(sum0), sum0);
    const int16x8_t y = vqmovntq_s32(low, sum1);
    vstrhq_p_s16(output + c, vminq_s16(vmaxq_s16(y, minimum), maximum), lanes);
  }
}
