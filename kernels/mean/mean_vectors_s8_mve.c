// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/vector_sums_mve.h"
#include "kernels/mean/scale_mve.h"

static inline int16x8_t mean_of(const void *op, int16x8_t sum) { return pl_mean_down(op, sum); }

pl_status pl_mean_vectors_s8(const pl_context *ctx, const pl_mean_params *params,
                             const pl_mean_dims *dims, const pl_mean_data *data) {
  (void)ctx;
  const pl_mean_params p = *params;
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      pl_sum_vectors(x, dims->kept[2], dims->reduced_stride[2], dims->reduced[2], mean_of, &p,
                     output);
      output += dims->kept[2];
    }
  }
  return PL_OK;
}
