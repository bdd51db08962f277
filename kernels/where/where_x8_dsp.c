// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/where/where_loop.h"

// In a row an operand is contiguous, or one value.
static inline uint32_t load(const uint8_t *x, int32_t step) {
  return step == 0 ? *x * 0x01010101U : (uint32_t)pl_load_4((const int8_t *)x);
}

// USUB8 says in four flags which bytes of the mask are at least 1, SEL chooses by them.
static inline uint32_t choose(uint32_t mask, uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("usub8 %0, %1, %2\n\tsel %0, %3, %4"
          : "=&r"(result)
          : "r"(mask), "r"(0x01010101U), "r"(a), "r"(b));
  return result;
}

pl_status pl_where_x8(const pl_context *ctx, const pl_where_params *params,
                      const pl_where_dims *dims, const pl_where_data *data) {
  (void)ctx;
  (void)params;
  const int32_t size = dims->size[PL_MAX_RANK - 1];
  const int32_t mask_step = dims->mask_stride[PL_MAX_RANK - 1];
  const int32_t a_step = dims->a_stride[PL_MAX_RANK - 1];
  const int32_t b_step = dims->b_stride[PL_MAX_RANK - 1];
  uint8_t *output = data->output;
  pl_where_row row = {0};
  do {
    const uint8_t *mask = data->mask + row.mask;
    const uint8_t *a = (const uint8_t *)data->a + row.a;
    const uint8_t *b = (const uint8_t *)data->b + row.b;
    for (const uint8_t *end = output + (size & ~3); output != end; output += 4) {
      const uint32_t four = choose(load(mask, mask_step), load(a, a_step), load(b, b_step));
      __builtin_memcpy(output, &four, 4);
      mask += 4 * mask_step;
      a += 4 * a_step;
      b += 4 * b_step;
    }
    for (int32_t left = size & 3; left > 0; --left) {
      *output++ = *mask ? *a : *b;
      mask += mask_step;
      a += a_step;
      b += b_step;
    }
  } while (pl_where_next(dims, &row));
  return PL_OK;
}
