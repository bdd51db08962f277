// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise_dsp.h"

pl_status pl_maximum_s8(const pl_context *ctx, const pl_binary_params *params,
                        const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  (void)params;
  return pl_elementwise_dsp(dims, data, pl_larger_4_s8);
}
