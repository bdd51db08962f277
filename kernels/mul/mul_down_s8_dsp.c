// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s8.h"
#include "kernels/common/dsp.h"
#include "kernels/mul/mul.h"

// What is left of params in the loops, for pl_narrow_dsp.
typedef struct {
  int32_t a_zero_point;
  int32_t b_zero_point;
  int32_t multiplier;
  int32_t right;
  int32_t twice_zero_point_and_1;
} stage;

static inline int8_t narrow(int32_t product, const stage *s) {
  return pl_narrow_dsp(2 * product, s->multiplier, s->right, s->twice_zero_point_and_1);
}

static void multiply_rows(stage s, const int8_t *a, const int8_t *b, int32_t size, int8_t *output) {
  for (const int8_t *end = a + size; a != end;) {
    *output++ = narrow((*a++ - s.a_zero_point) * (*b++ - s.b_zero_point), &s);
  }
}

static void multiply_by_value(stage s, const int8_t *a, int8_t b, int32_t size, int8_t *output) {
  const int32_t factor = b - s.b_zero_point;
  for (const int8_t *end = a + size; a != end;) {
    *output++ = narrow((*a++ - s.a_zero_point) * factor, &s);
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
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    if (b_step == 0) {
      multiply_by_value(s, data->a + row.a, data->b[row.b], size, output);
    } else {
      multiply_rows(s, data->a + row.a, data->b + row.b, size, output);
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, (int32_t)(output - data->output), params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}
