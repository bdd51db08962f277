// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/add/add.h"

#define INLINE static inline __attribute__((always_inline))

// scale(x) is (x * step + start) * multiplier / 2^31, rounded, then / 2^right, rounded:
// requantize.h with the sign of the multiplier in step. A linear operand, of multiplier 2^30 and
// shift 0, is x * step + start alone.
typedef struct {
  int32_t step;
  int32_t start;
  int32_t multiplier;
  int32_t right;  // below 0, as VRSHL has it
} operand;

static operand of(const pl_add_operand *o, int32_t left_shift) {
  const int32_t left = o->shift == 0 ? left_shift - 1 : left_shift;
  const int32_t step = (o->multiplier < 0 ? -1 : 1) * (1 << left);
  return (operand){
      .step = step,
      .start = -o->zero_point * step,
      .multiplier = o->multiplier < 0 ? -o->multiplier : o->multiplier,
      .right = o->shift,
  };
}

INLINE int32x4_t multiply(int32x4_t x, int32_t multiplier, int32_t right) {
  const int32x4_t h = vqrdmulhq_n_s32(x, multiplier);
  return vrshlq_n_s32(vaddq_s32(h, vshrq_n_s32(h, 31)), right);
}

INLINE int32x4_t scale(int32x4_t x, const operand *o, int is_linear) {
  const int32x4_t d = vmlasq_n_s32(x, vdupq_n_s32(o->step), o->start);
  return is_linear ? d : multiply(d, o->multiplier, o->right);
}

// y_step is 1, or 0 where b is one value.
INLINE void add(const pl_add_params *params, operand a, operand b, const int8_t *x, const int8_t *y,
                int32_t size, int8_t *output, int a_is_linear, int b_is_linear, int y_step) {
  const int32_t multiplier = params->output.multiplier;
  const int32_t right = params->output.shift;
  const int32_t zero_point = params->output.zero_point;
  const int32x4_t minimum = vdupq_n_s32(params->activation_min);
  const int32x4_t maximum = vdupq_n_s32(params->activation_max);
  const int32x4_t value = scale(vdupq_n_s32(*y), &b, b_is_linear);
  while (size > 0) {
    const mve_pred16_t lanes = vctp32q((uint32_t)size);
    const int32x4_t scaled_a = scale(vldrbq_z_s32(x, lanes), &a, a_is_linear);
    const int32x4_t scaled_b = y_step == 0 ? value : scale(vldrbq_z_s32(y, lanes), &b, b_is_linear);
    const int32x4_t sum = multiply(vaddq_s32(scaled_a, scaled_b), multiplier, right);
    const int32x4_t z = vmaxq_s32(vqaddq_n_s32(sum, zero_point), minimum);
    vstrbq_p_s32(output, vminq_s32(z, maximum), lanes);
    x += 4;
    y += 4 * y_step;
    output += 4;
    size -= 4;
  }
}

pl_status pl_add_down_s8(const pl_context *ctx, const pl_add_params *params,
                         const pl_add_dims *dims, const pl_add_data *data) {
  (void)ctx;
  const operand a = of(&params->a, params->left_shift);
  const operand b = of(&params->b, params->left_shift);
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *x = data->a + row.a;
    const int8_t *y = data->b + row.b;
    if (b_step == 0) {
      if (a.right == 0) {
        add(params, a, b, x, y, size, output, 1, b.right == 0, 0);
      } else {
        add(params, a, b, x, y, size, output, 0, b.right == 0, 0);
      }
    } else if (a.right == 0 && b.right == 0) {
      add(params, a, b, x, y, size, output, 1, 1, 1);
    } else if (a.right == 0) {
      add(params, a, b, x, y, size, output, 1, 0, 1);
    } else if (b.right == 0) {
      add(params, b, a, y, x, size, output, 1, 0, 1);
    } else {
      add(params, a, b, x, y, size, output, 0, 0, 1);
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}
