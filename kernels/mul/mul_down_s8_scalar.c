// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s8.h"
#include "kernels/common/narrow_down.h"
#include "kernels/mul/mul.h"

// The parameters used in the loops, for pl_narrow_down.
typedef struct {
  int32_t a_zero_point;
  int32_t b_zero_point;
  int32_t multiplier;
  int32_t right;
  int32_t twice_zero_point_and_1;
} stage;

// Rows of the innermost two dimensions.
typedef struct {
  const int8_t *a;
  const int8_t *b;
  int8_t *output;
  int32_t count;
  int32_t size;
  int32_t a_gap;  // from the end of a row to the next
  int32_t b_gap;
} rows;

static inline int8_t narrow(int32_t product, const stage *s) {
  return pl_narrow_down(product, s->multiplier, s->right, s->twice_zero_point_and_1);
}

static void multiply_rows(stage s, rows of) {
  for (; of.count > 0; --of.count) {
    for (const int8_t *end = of.a + of.size; of.a != end;) {
      *of.output++ = narrow((*of.a++ - s.a_zero_point) * (*of.b++ - s.b_zero_point), &s);
    }
    of.a += of.a_gap;
    of.b += of.b_gap;
  }
}

static void multiply_by_values(stage s, rows of) {
  for (; of.count > 0; --of.count) {
    const int32_t factor = *of.b - s.b_zero_point;
    for (const int8_t *end = of.a + of.size; of.a != end;) {
      *of.output++ = narrow((*of.a++ - s.a_zero_point) * factor, &s);
    }
    of.a += of.a_gap;
    of.b += of.b_gap;
  }
}

pl_status pl_mul_down_s8(const pl_context *ctx, const pl_mul_params *params,
                         const pl_mul_dims *dims, const pl_mul_data *data) {
  (void)ctx;
  const stage s = {
      .a_zero_point = params->a_zero_point,
      .b_zero_point = params->b_zero_point,
      .multiplier = params->multiplier,
      .right = -params->shift - 1,
      .twice_zero_point_and_1 = 2 * params->output_zero_point + 1,
  };
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  rows of = {
      .output = data->output,
      .count = dims->size[PL_BROADCAST_DIMS - 2],
      .size = size,
      .a_gap = dims->a_stride[PL_BROADCAST_DIMS - 2] - size,
      .b_gap = dims->b_stride[PL_BROADCAST_DIMS - 2] - b_step * size,
  };
  pl_broadcast_row row = {0};
  do {
    of.a = data->a + row.a;
    of.b = data->b + row.b;
    if (b_step == 0) {
      multiply_by_values(s, of);
    } else {
      multiply_rows(s, of);
    }
    of.output += of.count * size;
  } while (pl_broadcast_next_rows(dims, &row));
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, (int32_t)(of.output - data->output), params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}
