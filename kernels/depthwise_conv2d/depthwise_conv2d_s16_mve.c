// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/depthwise_conv2d/windows_s16.h"

#define LANES 8

// Eight channels: VMULLB and VMULLT multiply the even and the odd ones, of weights that are widened
// as they are loaded. Their constants are loaded in that order. VRSHL of the product's high half
// rounds as pl_wide_narrow_high does.
static void convolve(const pl_depthwise_conv2d_s16_params *params, int32_t channels,
                     const pl_depthwise_conv2d_s16_data *data, const pl_window_s16 *window,
                     int16_t *output) {
  const uint32x4_t even = vidupq_n_u32(0, 2);
  const uint32x4_t odd = vaddq_n_u32(even, 1);
  const int16x8_t minimum = vdupq_n_s16((int16_t)params->activation_min);
  const int16x8_t maximum = vdupq_n_s16((int16_t)params->activation_max);
  for (int32_t c = 0; c < channels; c += LANES) {
    const mve_pred16_t lanes = vctp16q((uint32_t)(channels - c));
    const mve_pred16_t evens = vcmpltq_n_s32(vreinterpretq_s32_u32(even), channels - c);
    const mve_pred16_t odds = vcmpltq_n_s32(vreinterpretq_s32_u32(odd), channels - c);
    int32x4_t sum0 = vldrwq_gather_shifted_offset_z_s32(data->bias + c, even, evens);
    int32x4_t sum1 = vldrwq_gather_shifted_offset_z_s32(data->bias + c, odd, odds);
    const int16_t *row = window->first + c;
    const int8_t *weight = window->weight + c;
    for (int32_t left = window->rows; left > 0; --left) {
      const int16_t *x = row;
      const int8_t *w = weight;
      for (int32_t taps = window->columns; taps > 0; --taps) {
        const int16x8_t xs = vldrhq_z_s16(x, lanes);
        const int16x8_t ws = vldrbq_z_s16(w, lanes);
        sum0 = vaddq_s32(sum0, vmullbq_int_s16(xs, ws));
        sum1 = vaddq_s32(sum1, vmulltq_int_s16(xs, ws));
        x += window->column_step;
        w += channels;
      }
      row += window->row_step;
      weight += window->weight_step;
    }
    const int32_t *multiplier = data->multiplier + c;
    const int32_t *right = data->right + c;
    sum0 = vmulhq_s32(sum0, vldrwq_gather_shifted_offset_z_s32(multiplier, even, evens));
    sum1 = vmulhq_s32(sum1, vldrwq_gather_shifted_offset_z_s32(multiplier, odd, odds));
    sum0 = vrshlq_s32(sum0, vnegq_s32(vldrwq_gather_shifted_offset_z_s32(right, even, evens)));
    sum1 = vrshlq_s32(sum1, vnegq_s32(vldrwq_gather_shifted_offset_z_s32(right, odd, odds)));
    const int16x8_t y = vqmovntq_s32(vqmovnbq_s32(vdupq_n_s16(0), sum0), sum1);
    vstrhq_p_s16(output + c, vminq_s16(vmaxq_s16(y, minimum), maximum), lanes);
  }
}

pl_status pl_depthwise_conv2d_s16(const pl_context *ctx,
                                  const pl_depthwise_conv2d_s16_params *params,
                                  const pl_depthwise_conv2d_s16_dims *dims,
                                  const pl_depthwise_conv2d_s16_data *data) {
  (void)ctx;
  return pl_depthwise_windows_s16(params, dims, data, convolve);
}
