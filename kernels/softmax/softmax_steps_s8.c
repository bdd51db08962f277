// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials.h"
#include "kernels/softmax/softmax.h"

// Same as in softmax_s8_scalar.c; that one is faster because of its constant.
static void softmax_row(const int8_t *x, int32_t size, int32_t step, const int32_t *exp_table,
                        uint32_t steps, int8_t *output) {
  const int32_t maximum = pl_row_maximum(x, size, step);
  const uint32_t sum = pl_row_exponentials(x, size, step, exp_table, maximum);
  const uint32_t half = sum / 2;
  for (; size > 0; --size, x += step, output += step) {
    const uint32_t e = (uint32_t)exp_table[maximum - *x];
    const uint32_t share = (e * steps + half) / sum;
    *output = (int8_t)((share > 255 ? 255 : (int32_t)share) - 128);
  }
}

pl_status pl_softmax_steps_s8(const pl_context *ctx, const pl_softmax_params *params,
                              const pl_softmax_dims *dims, const pl_softmax_data *data) {
  (void)ctx;
  const int32_t block = dims->size * dims->inner;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      const int32_t start = outer * block + inner;
      softmax_row(data->input + start, dims->size, dims->inner, data->exp_table, params->steps,
                  data->output + start);
    }
  }
  return PL_OK;
}
