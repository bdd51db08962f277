// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/add_s16.h"
#include "kernels/common/clamp_s16.h"
#include "kernels/common/narrow_down.h"

// scale(x) is (x * step * multiplier / 2^32, rounded, + half) >> right, one less if the product is
// negative: requantize.h. A linear operand has multiplier 2^30, and its right shift drops only
// zeros. It is x * step, with the multiplier's sign in step. No x * step exceeds 32 bits: step is
// at most 2^16 for a scaled operand, ensured by kernel.py, and 2^14 for a linear one.
typedef struct {
  int32_t step;
  int32_t multiplier;
  int32_t half;
  int32_t right;
} operand;

typedef struct {
  operand first;
  operand second;
  int32_t multiplier;
  int32_t right;
} sum;

// Rows of the innermost two dimensions.
typedef struct {
  const int16_t *x;
  const int16_t *y;
  int16_t *output;
  int32_t count;
  int32_t size;
  int32_t x_step;
  int32_t y_step;
  int32_t x_gap;  // from the end of a row to the next
  int32_t y_gap;
} rows;

static int is_linear(const pl_add_operand *o, int32_t left_shift) {
  return (o->multiplier == 1 << 30 || o->multiplier == -(1 << 30)) && o->shift > -left_shift;
}

static operand make_operand(const pl_add_operand *o, int32_t left_shift) {
  if (is_linear(o, left_shift)) {
    const int32_t one = 1 << (left_shift + o->shift - 1);
    return (operand){.step = o->multiplier < 0 ? -one : one};
  }
  return (operand){
      .step = 2 << left_shift,
      .multiplier = o->multiplier,
      .half = 1 << (-o->shift - 1),
      .right = -o->shift,
  };
}

static inline int32_t scale(int32_t x, const operand *o) {
  const int32_t d = x * o->step;
  return pl_add_product_high(o->half + ((d ^ o->multiplier) >> 31), d, o->multiplier) >> o->right;
}

static inline int32_t line(int32_t x, const operand *o) { return x * o->step; }

typedef int32_t of_operand(int32_t x, const operand *o);

// The operand functions are constants after inlining, so this makes three loops.
PL_INLINE void add_rows(sum s, of_operand *first, of_operand *second, rows of) {
  for (; of.count > 0; --of.count, of.x += of.x_gap, of.y += of.y_gap) {
    for (const int16_t *end = of.output + of.size; of.output != end;) {
      const int32_t added = first(*of.x, &s.first) + second(*of.y, &s.second);
      *of.output++ = pl_narrow_down_s16(added, s.multiplier, s.right);
      of.x += of.x_step;
      of.y += of.y_step;
    }
  }
}

pl_status pl_add_down_s16(const pl_context *ctx, const pl_add_s16_params *params,
                          const pl_add_s16_dims *dims, const pl_add_s16_data *data) {
  (void)ctx;
  const int32_t left_shift = params->left_shift;
  const int a_is_linear = is_linear(&params->a, left_shift);
  const int b_is_linear = is_linear(&params->b, left_shift);
  // The linear operand, if there is one, is the first.
  const int swap = b_is_linear && !a_is_linear;
  const sum s = {
      .first = make_operand(swap ? &params->b : &params->a, left_shift),
      .second = make_operand(swap ? &params->a : &params->b, left_shift),
      .multiplier = params->output.multiplier,
      .right = -params->output.shift - 1,
  };
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  const int32_t a_gap = dims->a_stride[PL_BROADCAST_DIMS - 2] - size;
  const int32_t b_gap = dims->b_stride[PL_BROADCAST_DIMS - 2] - b_step * size;
  rows of = {
      .output = data->output,
      .count = dims->size[PL_BROADCAST_DIMS - 2],
      .size = size,
      .x_step = swap ? b_step : 1,
      .y_step = swap ? 1 : b_step,
      .x_gap = swap ? b_gap : a_gap,
      .y_gap = swap ? a_gap : b_gap,
  };
  pl_broadcast_row row = {0};
  do {
    const int16_t *a = data->a + row.a;
    const int16_t *b = data->b + row.b;
    of.x = swap ? b : a;
    of.y = swap ? a : b;
    if (a_is_linear && b_is_linear) {
      add_rows(s, line, line, of);
    } else if (a_is_linear || b_is_linear) {
      add_rows(s, line, scale, of);
    } else {
      add_rows(s, scale, scale, of);
    }
    of.output += of.count * size;
  } while (pl_broadcast_next_rows(dims, &row));
  pl_clamp_s16(data->output, of.output, params->activation_min, params->activation_max);
  return PL_OK;
}
