// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/add.h"
#include "kernels/common/clamp_s8.h"
#include "kernels/common/narrow_down.h"

// scale(x) is ((x * step + start) * multiplier / 2^32, rounded, + half) >> right, one less if the
// first factor is negative. This is requantize.h with the sign of the multiplier in step, as in
// pl_narrow_down. A linear operand has multiplier 2^30, and its right shift drops only zeros. It is
// x * step + start.
typedef struct {
  int32_t step;
  int32_t start;
  int32_t multiplier;
  int32_t half;
  int32_t right;
} operand;

typedef struct {
  int32_t multiplier;
  int32_t right;
  int32_t twice_zero_point_and_1;
} result;

static int is_linear(const pl_add_operand *o, int32_t left_shift) {
  return (o->multiplier == 1 << 30 || o->multiplier == -(1 << 30)) && o->shift > -left_shift;
}

// shift below 0, or the operand is linear: then as twice itself, halved.
static operand make_operand(const pl_add_operand *o, int32_t left_shift) {
  const int32_t twice = o->shift == 0 ? 4 : 2;
  const int32_t step = (o->multiplier < 0 ? -twice : twice) * (1 << left_shift);
  const int32_t right = o->shift == 0 ? 1 : -o->shift;
  return (operand){
      .step = step,
      .start = -o->zero_point * step,
      .multiplier = o->multiplier < 0 ? -o->multiplier : o->multiplier,
      .half = 1 << (right - 1),
      .right = right,
  };
}

static operand linear(const pl_add_operand *o, int32_t left_shift) {
  const int32_t one = 1 << (left_shift + o->shift - 1);
  const int32_t step = o->multiplier < 0 ? -one : one;
  return (operand){.step = step, .start = -o->zero_point * step};
}

static inline int32_t line(int32_t x, const operand *o) { return x * o->step + o->start; }

static inline int32_t scale(int32_t x, const operand *o) {
  const int32_t d = line(x, o);
  return pl_add_product_high(o->half + (d >> 31), d, o->multiplier) >> o->right;
}

static inline int8_t narrow(int32_t sum, const result *r) {
  return pl_narrow_down(sum, r->multiplier, r->right, r->twice_zero_point_and_1);
}

// Rows of the innermost two dimensions.
typedef struct {
  const int8_t *x;
  const int8_t *y;
  int8_t *output;
  int32_t count;
  int32_t size;
  int32_t x_gap;  // from the end of a row to the next
  int32_t y_gap;
} rows;

static void add_rows(operand a, operand b, result r, rows of) {
  for (; of.count > 0; --of.count) {
    for (const int8_t *end = of.x + of.size; of.x != end;) {
      *of.output++ = narrow(scale(*of.x++, &a) + scale(*of.y++, &b), &r);
    }
    of.x += of.x_gap;
    of.y += of.y_gap;
  }
}

static void add_linear_rows(operand a, operand b, result r, rows of) {
  for (; of.count > 0; --of.count) {
    for (const int8_t *end = of.x + of.size; of.x != end;) {
      *of.output++ = narrow(line(*of.x++, &a) + scale(*of.y++, &b), &r);
    }
    of.x += of.x_gap;
    of.y += of.y_gap;
  }
}

static void add_values(operand a, operand b, result r, rows of) {
  for (; of.count > 0; --of.count) {
    const int32_t scaled_b = scale(*of.y, &b);
    for (const int8_t *end = of.x + of.size; of.x != end;) {
      *of.output++ = narrow(scale(*of.x++, &a) + scaled_b, &r);
    }
    of.x += of.x_gap;
    of.y += of.y_gap;
  }
}

pl_status pl_add_down_s8(const pl_context *ctx, const pl_add_params *params,
                         const pl_add_dims *dims, const pl_add_data *data) {
  (void)ctx;
  const int32_t left_shift = params->left_shift;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  const int a_is_linear = is_linear(&params->a, left_shift);
  // The linear operand, if there is one, is the first; values are the second.
  const int swap = b_step != 0 && !a_is_linear && is_linear(&params->b, left_shift);
  const pl_add_operand *first = swap ? &params->b : &params->a;
  const pl_add_operand *second = swap ? &params->a : &params->b;
  const int has_line = swap || (b_step != 0 && a_is_linear);
  const operand a = has_line ? linear(first, left_shift) : make_operand(first, left_shift);
  const operand b = make_operand(second, left_shift);
  const result r = {params->output.multiplier, -params->output.shift - 1,
                    2 * params->output.zero_point + 1};
  const int32_t a_gap = dims->a_stride[PL_BROADCAST_DIMS - 2] - size;
  const int32_t b_gap = dims->b_stride[PL_BROADCAST_DIMS - 2] - b_step * size;
  rows of = {
      .output = data->output,
      .count = dims->size[PL_BROADCAST_DIMS - 2],
      .size = size,
      .x_gap = swap ? b_gap : a_gap,
      .y_gap = swap ? a_gap : b_gap,
  };
  pl_broadcast_row row = {0};
  do {
    of.x = swap ? data->b + row.b : data->a + row.a;
    of.y = swap ? data->a + row.a : data->b + row.b;
    if (b_step == 0) {
      add_values(a, b, r, of);
    } else if (has_line) {
      add_linear_rows(a, b, r, of);
    } else {
      add_rows(a, b, r, of);
    }
    of.output += of.count * size;
  } while (pl_broadcast_next_rows(dims, &row));
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, (int32_t)(of.output - data->output), params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}
