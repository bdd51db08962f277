// SPDX-License-Identifier: Apache-2.0
// Where the first taps of windows beside each other are, whose few channels share a vector.
#ifndef KERNELS_COMMON_PLACES_MVE_H_
#define KERNELS_COMMON_PLACES_MVE_H_

#include <arm_mve.h>

// A gather takes an access a lane: it is for four windows or more in sixteen lanes, two in eight.
#define PL_FEW_CHANNELS 4

// Whether windows `step` bytes apart go together, so that places fit in a byte.
static inline int pl_few_channels(int32_t channels, int32_t step, int32_t count) {
  return channels <= PL_FEW_CHANNELS && count > 1 && step <= 15;
}

// The places of as many windows as there are lanes for. Returns how many.
static inline int32_t pl_places_of_windows(uint8_t *places, int32_t lanes, int32_t channels,
                                           int32_t step) {
  const int32_t windows = lanes / channels;
  for (int32_t i = 0; i < windows; ++i) {
    for (int32_t c = 0; c < channels; ++c) *places++ = (uint8_t)(i * step + c);
  }
  return windows;
}

#endif  // KERNELS_COMMON_PLACES_MVE_H_
