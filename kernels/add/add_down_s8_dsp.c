// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/add.h"
#include "kernels/common/clamp_s8.h"
#include "kernels/common/dsp.h"

// scale(x) is ((x * step + start) * multiplier / 2^32, rounded, + half) >> right, one less where
// the first factor is negative: requantize.h with the sign of the multiplier in step, as in
// pl_narrow_dsp. A linear operand, of multiplier 2^30 and a right shift of nothing but zeros, is
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
static operand of(const pl_add_operand *o, int32_t left_shift) {
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

// Of C, GCC makes SMLAL, and a MOV of the half that rounds to the register that it overwrites: a
// value would take 31 instructions in add_rows, these are 28, and 18 in add_value, these are 15.
static inline int32_t scale(int32_t x, const operand *o) {
  const int32_t d = line(x, o);
  int32_t h = o->half + (d >> 31);
  __asm__("smmlar %0, %1, %2, %0" : "+r"(h) : "r"(d), "r"(o->multiplier));
  return h >> o->right;
}

static inline int8_t narrow(int32_t sum, const result *r) {
  return pl_narrow_dsp(sum * 2, r->multiplier, r->right, r->twice_zero_point_and_1);
}

static void add_rows(operand a, operand b, result r, const int8_t *x, const int8_t *y, int32_t size,
                     int8_t *output) {
  for (const int8_t *end = x + size; x != end;) {
    *output++ = narrow(scale(*x++, &a) + scale(*y++, &b), &r);
  }
}

static void add_linear_rows(operand a, operand b, result r, const int8_t *x, const int8_t *y,
                            int32_t size, int8_t *output) {
  for (const int8_t *end = x + size; x != end;) {
    *output++ = narrow(line(*x++, &a) + scale(*y++, &b), &r);
  }
}

static void add_value(operand a, int32_t scaled_b, result r, const int8_t *x, int32_t size,
                      int8_t *output) {
  for (const int8_t *end = x + size; x != end;) {
    *output++ = narrow(scale(*x++, &a) + scaled_b, &r);
  }
}

pl_status pl_add_down_s8(const pl_context *ctx, const pl_add_params *params,
                         const pl_add_dims *dims, const pl_add_data *data) {
  (void)ctx;
  const int32_t left_shift = params->left_shift;
  const operand a = of(&params->a, left_shift);
  const operand b = of(&params->b, left_shift);
  const result r = {params->output.multiplier, -params->output.shift - 1,
                    2 * params->output.zero_point + 1};
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int8_t *x = data->a + row.a;
    const int8_t *y = data->b + row.b;
    if (b_step == 0) {
      add_value(a, scale(*y, &b), r, x, size, output);
    } else if (is_linear(&params->a, left_shift)) {
      add_linear_rows(linear(&params->a, left_shift), b, r, x, y, size, output);
    } else if (is_linear(&params->b, left_shift)) {
      add_linear_rows(linear(&params->b, left_shift), a, r, y, x, size, output);
    } else {
      add_rows(a, b, r, x, y, size, output);
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, (int32_t)(output - data->output), params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}
