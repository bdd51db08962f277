// SPDX-License-Identifier: Apache-2.0
// Index map for the first taps of adjacent windows whose few channels share a vector.
#ifndef KERNELS_COMMON_PLACES_MVE_H_
#define KERNELS_COMMON_PLACES_MVE_H_

#include <arm_mve.h>

// A gather takes an access a lane: it is for four windows or more in sixteen lanes, two in eight.
#define PL_FEW_CHANNELS 4

// Returns true if windows `step` bytes apart are computed together, so indices fit a byte.
static inline int pl_few_channels(int32_t channels, int32_t step, int32_t count) {
  return channels <= PL_FEW_CHANNELS && count > 1 && step <= 15;
}

// Channel offsets of as many windows as fit the lanes. A lane belongs to window lane / channels, by
// a reciprocal exact for few lanes.
static inline uint8x16_t pl_places_of_16(int32_t channels, int32_t step) {
  const uint8x16_t twice_lane = vidupq_n_u8(0, 2);
  const uint8x16_t window =
      vmulhq_u8(twice_lane, vdupq_n_u8((uint8_t)((127 + channels) / channels)));
  return vmlaq_n_u8(vidupq_n_u8(0, 1), window, (uint8_t)(step - channels));
}

static inline uint16x8_t pl_places_of_8(int32_t channels, int32_t step) {
  const uint16x8_t twice_lane = vidupq_n_u16(0, 2);
  const uint16x8_t window =
      vmulhq_u16(twice_lane, vdupq_n_u16((uint16_t)((INT16_MAX + channels) / channels)));
  return vmlaq_n_u16(vidupq_n_u16(0, 1), window, (uint16_t)(step - channels));
}

#endif  // KERNELS_COMMON_PLACES_MVE_H_
