// SPDX-License-Identifier: Apache-2.0
// Rows of operands that broadcast, for loops over vectors: where one value stands for a whole row,
// the loop reads a vector of it again and again.
#ifndef KERNELS_COMMON_OPERANDS_MVE_H_
#define KERNELS_COMMON_OPERANDS_MVE_H_

#include <arm_mve.h>

// Where a row is to be read: at x if its elements are `step` = 1 apart, else, with a step of 0, at
// `repeated`. A loop moves on by step times its lanes.
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

#endif  // KERNELS_COMMON_OPERANDS_MVE_H_
