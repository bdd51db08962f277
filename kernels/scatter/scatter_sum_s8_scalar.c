// SPDX-License-Identifier: Apache-2.0
#include "kernels/scatter/scatter_sum.h"

#include "kernels/common/requantize.h"

static inline int32_t load(const void *values, int32_t index) {
  return ((const int8_t *)values)[index];
}

static inline void store(const pl_scatter_params *params, int32_t sum, int32_t index,
                         void *output) {
  ((int8_t *)output)[index] = pl_narrow(pl_requantize(sum, params->multiplier, params->shift),
                                        params->output_zero_point, INT8_MIN, INT8_MAX);
}

pl_status pl_scatter_sum_s8(const pl_context *ctx, const pl_scatter_params *params,
                            const pl_scatter_dims *dims, const pl_scatter_data *data) {
  return pl_scatter_sums(ctx, params, dims, data, load, store);
}
