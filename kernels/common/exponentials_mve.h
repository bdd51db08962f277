// SPDX-License-Identifier: Apache-2.0
// exponentials.h, and the resulting shares, on four lanes of Helium.
#ifndef KERNELS_COMMON_EXPONENTIALS_MVE_H_
#define KERNELS_COMMON_EXPONENTIALS_MVE_H_

#include <stdbool.h>
#include <stddef.h>

#include "kernels/common/divide_mve.h"
#include "kernels/common/types.h"

// A row. With a mask (`masked`, and then step 1) only values it keeps count.
typedef struct {
  const int8_t *x;
  const uint8_t *mask;
  int32_t size;
  int32_t step;
  bool masked;
} pl_row_mve;

// Offsets of four values that are `step` apart.
PL_INLINE uint32x4_t pl_offsets_mve(int32_t step) {
  return vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)step);
}

PL_INLINE int32x4_t pl_load_row_mve(const int8_t *x, int32_t step, uint32x4_t offsets,
                                    mve_pred16_t lanes) {
  return step == 1 ? vldrbq_z_s32(x, lanes) : vldrbq_gather_offset_z_s32(x, offsets, lanes);
}

PL_INLINE void pl_store_row_mve(int8_t *y, int32_t step, uint32x4_t offsets, int32x4_t values,
                                mve_pred16_t lanes) {
  if (step == 1) {
    vstrbq_p_s32(y, values, lanes);
  } else {
    vstrbq_scatter_offset_p_s32(y, offsets, values, lanes);
  }
}

// Largest of the values that count, INT8_MIN if there are none.
PL_INLINE int32_t pl_row_maximum_mve(pl_row_mve row) {
  int8_t maximum = INT8_MIN;
  const int8_t *x = row.x;
  if (row.step == 1) {
    const uint8_t *mask = row.mask;
    for (int32_t left = row.size; left > 0; left -= 16) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      const int8x16_t values = vldrbq_z_s8(x, lanes);
      if (row.masked) {
        maximum = vmaxvq_p_s8(maximum, values, vcmpneq_n_u8(vldrbq_z_u8(mask, lanes), 0));
        mask += 16;
      } else {
        maximum = vmaxvq_p_s8(maximum, values, lanes);
      }
      x += 16;
    }
    return maximum;
  }
  for (int32_t left = row.size; left > 0; --left, x += row.step)
    maximum = *x > maximum ? *x : maximum;
  return maximum;
}

// exp_table[maximum - x] of four values, 0 for those that do not count. These may exceed the
// maximum. (The mask is a factor, because a second predicate would make GCC emit many moves.)
PL_INLINE uint32x4_t pl_exponentials_mve(const int8_t *x, const uint8_t *mask, bool masked,
                                         int32_t step, uint32x4_t offsets, const int32_t *exp_table,
                                         int32x4_t maximum, mve_pred16_t lanes) {
  int32x4_t index = vsubq_s32(maximum, pl_load_row_mve(x, step, offsets, lanes));
  if (masked) index = vmaxq_s32(index, vdupq_n_s32(0));
  const uint32x4_t e = vreinterpretq_u32_s32(
      vldrwq_gather_shifted_offset_z_s32(exp_table, vreinterpretq_u32_s32(index), lanes));
  return masked ? vmulq_u32(e, vminq_u32(vldrbq_z_u32(mask, lanes), vdupq_n_u32(1))) : e;
}

// Sum of the exponentials.
PL_INLINE uint32_t pl_row_exponentials_mve(pl_row_mve row, const int32_t *exp_table,
                                           int32_t maximum) {
  const uint32x4_t offsets = pl_offsets_mve(row.step);
  const int32x4_t most = vdupq_n_s32(maximum);
  const int8_t *x = row.x;
  const uint8_t *mask = row.mask;
  uint32_t sum = 0;
  for (int32_t left = row.size; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    sum = vaddvaq_p_u32(
        sum, pl_exponentials_mve(x, mask, row.masked, row.step, offsets, exp_table, most, lanes),
        lanes);
    x += 4 * row.step;
    if (row.masked) mask += 4;
  }
  return sum;
}

// pl_softmax_steps_s8, with a mask pl_masked_softmax_s8, of a row.
PL_INLINE void pl_softmax_row_mve(pl_row_mve row, const int32_t *exp_table, uint32_t steps,
                                  int8_t *output) {
  const int32_t maximum = pl_row_maximum_mve(row);
  const uint32_t sum = pl_row_exponentials_mve(row, exp_table, maximum);
  const pl_divisor_mve divisor = pl_divisor_of(sum == 0 ? 1 : sum);  // 0: all are masked
  const uint32x4_t half = vdupq_n_u32(sum / 2);
  const uint32x4_t offsets = pl_offsets_mve(row.step);
  const int32x4_t most = vdupq_n_s32(maximum);
  const int8_t *x = row.x;
  const uint8_t *mask = row.mask;
  for (int32_t left = row.size; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    const uint32x4_t e =
        pl_exponentials_mve(x, mask, row.masked, row.step, offsets, exp_table, most, lanes);
    const uint32x4_t share = pl_divide_mve(vmlaq_n_u32(half, e, steps), divisor);
    const uint32x4_t bounded = vminq_u32(share, vdupq_n_u32(255));
    const int32x4_t y = vsubq_n_s32(vreinterpretq_s32_u32(bounded), 128);
    pl_store_row_mve(output, row.step, offsets, y, lanes);
    x += 4 * row.step;
    output += 4 * row.step;
    if (row.masked) mask += 4;
  }
}

// The same for the rows of [outer, size, inner] over size. Contiguous rows have loops of their own.
PL_INLINE void pl_softmax_rows_mve(int32_t outer, int32_t size, int32_t inner, const int8_t *x,
                                   const int32_t *exp_table, uint32_t steps, int8_t *output) {
  if (inner == 1) {
    for (; outer > 0; --outer, x += size, output += size) {
      pl_softmax_row_mve((pl_row_mve){x, NULL, size, 1, false}, exp_table, steps, output);
    }
    return;
  }
  for (; outer > 0; --outer, x += (size - 1) * inner, output += (size - 1) * inner) {
    for (int32_t left = inner; left > 0; --left) {
      pl_softmax_row_mve((pl_row_mve){x++, NULL, size, inner, false}, exp_table, steps, output++);
    }
  }
}

#endif  // KERNELS_COMMON_EXPONENTIALS_MVE_H_
