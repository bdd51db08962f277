// SPDX-License-Identifier: Apache-2.0
// A row of pl_add_down_s8 and pl_add_flat_s8 on vectors.
#ifndef KERNELS_ADD_ADD_MVE_H_
#define KERNELS_ADD_ADD_MVE_H_

#include "kernels/add/add.h"
#include "kernels/common/requantize_mve.h"

// scale(x) is (x * step + start) * multiplier / 2^31, rounded, then / 2^right, rounded:
// requantize.h with the sign of the multiplier in step. A linear operand, of multiplier 2^30 and
// shift 0, is x * step + start alone.
typedef struct {
  int32_t step;
  int32_t start;
  int32_t multiplier;
  int32_t right;  // below 0, as VRSHL has it
} pl_add_scale;

typedef struct {
  int32_t multiplier;
  int32_t right;
  int32_t zero_point;
  int32x4_t minimum;
  int32x4_t maximum;
} pl_add_stage;

PL_INLINE pl_add_scale pl_add_scale_of(const pl_add_operand *of, int32_t left_shift) {
  const int32_t sign = of->multiplier >> 31;
  const int32_t size = 1 << (left_shift - (of->shift == 0));
  const int32_t step = (size ^ sign) - sign;
  return (pl_add_scale){
      .step = step,
      .start = -of->zero_point * step,
      .multiplier = (of->multiplier ^ sign) - sign,
      .right = of->shift,
  };
}

PL_INLINE pl_add_stage pl_add_stage_of(const pl_add_params *params) {
  return (pl_add_stage){
      .multiplier = params->output.multiplier,
      .right = params->output.shift,
      .zero_point = params->output.zero_point,
      .minimum = vdupq_n_s32(params->activation_min),
      .maximum = vdupq_n_s32(params->activation_max),
  };
}

PL_INLINE int32x4_t pl_add_scaled(int32x4_t x, const pl_add_scale *by, int is_linear) {
  const int32x4_t d = vmlasq_n_s32(x, vdupq_n_s32(by->step), by->start);
  return is_linear ? d : pl_requantize_down_mve(d, by->multiplier, by->right);
}

// y_step is 1, or 0 if y is one value. The is_linear flags are constants after inlining.
PL_INLINE void pl_add_loop(pl_add_scale a, pl_add_scale b, pl_add_stage to, const int8_t *x,
                           const int8_t *y, int32_t size, int8_t *output, int a_is_linear,
                           int b_is_linear, int y_step) {
  const int32x4_t value = pl_add_scaled(vdupq_n_s32(*y), &b, b_is_linear);
  while (size > 0) {
    const mve_pred16_t lanes = vctp32q((uint32_t)size);
    const int32x4_t scaled_x = pl_add_scaled(vldrbq_z_s32(x, lanes), &a, a_is_linear);
    const int32x4_t scaled_y =
        y_step == 0 ? value : pl_add_scaled(vldrbq_z_s32(y, lanes), &b, b_is_linear);
    const int32x4_t sum =
        pl_requantize_down_mve(vaddq_s32(scaled_x, scaled_y), to.multiplier, to.right);
    const int32x4_t least = vmaxq_s32(vqaddq_n_s32(sum, to.zero_point), to.minimum);
    vstrbq_p_s32(output, vminq_s32(least, to.maximum), lanes);
    x += 4;
    y += 4 * y_step;
    output += 4;
    size -= 4;
  }
}

// If one of two vectors is linear, it is the first.
PL_INLINE void pl_add_row(pl_add_scale a, pl_add_scale b, pl_add_stage to, const int8_t *x,
                          const int8_t *y, int32_t y_step, int32_t size, int8_t *output) {
  if (y_step == 0) {
    if (a.right == 0) {
      pl_add_loop(a, b, to, x, y, size, output, 1, b.right == 0, 0);
    } else {
      pl_add_loop(a, b, to, x, y, size, output, 0, b.right == 0, 0);
    }
  } else if (a.right != 0) {
    pl_add_loop(a, b, to, x, y, size, output, 0, 0, 1);
  } else if (b.right != 0) {
    pl_add_loop(a, b, to, x, y, size, output, 1, 0, 1);
  } else {
    pl_add_loop(a, b, to, x, y, size, output, 1, 1, 1);
  }
}

#endif  // KERNELS_ADD_ADD_MVE_H_
