// SPDX-License-Identifier: Apache-2.0
#include "kernels/avg_pool2d/avg_pool2d.h"
#include "kernels/common/average_mve.h"
#include "kernels/common/vector_sums_mve.h"

static inline int16x8_t average_of(const void *op, int16x8_t sum) {
  const pl_average_mve *const by = op;
  return pl_average(vaddq_n_u16(vreinterpretq_u16_s16(sum), by->start), *by);
}

pl_status pl_avg_pool2d_whole_s8(const pl_context *ctx, const pl_avg_pool2d_params *params,
                                 const pl_avg_pool2d_dims *dims, const pl_avg_pool2d_data *data) {
  (void)ctx;
  (void)params;
  const int32_t channels = dims->input_c;
  const int32_t taps = dims->input_h * dims->input_w;
  const pl_average_mve by = pl_average_of(taps, 0);
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    pl_sum_vectors(image, channels, channels, taps, average_of, &by, output);
    image += taps * channels;
    output += channels;
  }
  return PL_OK;
}
