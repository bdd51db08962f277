// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s16.h"
#include "kernels/common/narrow_down.h"
#include "kernels/mul/mul_s16.h"

typedef struct {
  int32_t multiplier;
  int32_t right;
} stage;

// Rows of the innermost two dimensions.
typedef struct {
  const int16_t *a;
  const int16_t *b;
  int16_t *output;
  int32_t count;
  int32_t size;
  int32_t a_gap;  // from the end of a row to the next
  int32_t b_gap;
} rows;

// Only one product, 2^30, is outside pl_narrow_down_s16's range. 2^30 - 1 gives the same result.
static inline int16_t narrow(int32_t product, const stage *s) {
  return pl_narrow_down_s16(PL_SATURATE(product, 31), s->multiplier, s->right);
}

static void multiply_rows(stage s, rows of) {
  for (; of.count > 0; --of.count) {
    for (const int16_t *end = of.a + of.size; of.a != end;) {
      *of.output++ = narrow(*of.a++ * *of.b++, &s);
    }
    of.a += of.a_gap;
    of.b += of.b_gap;
  }
}

static void multiply_by_values(stage s, rows of) {
  for (; of.count > 0; --of.count) {
    const int32_t factor = *of.b;
    for (const int16_t *end = of.a + of.size; of.a != end;) {
      *of.output++ = narrow(*of.a++ * factor, &s);
    }
    of.a += of.a_gap;
    of.b += of.b_gap;
  }
}

pl_status pl_mul_down_s16(const pl_context *ctx, const pl_mul_s16_params *params,
                          const pl_mul_s16_dims *dims, const pl_mul_s16_data *data) {
  (void)ctx;
  const stage s = {params->multiplier, -params->shift - 1};
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
  pl_clamp_s16(data->output, of.output, params->activation_min, params->activation_max);
  return PL_OK;
}
