// SPDX-License-Identifier: Apache-2.0
#include "kernels/pad/pad.h"

#include "kernels/common/copy.h"

pl_status pl_pad_s8(const pl_context *ctx, const pl_pad_params *params, const pl_pad_dims *dims,
                    const pl_pad_data *data) {
  const pl_strided_copy_data interior = {data->input, data->output};
  pl_fill_bytes(data->output, (int8_t)params->value, dims->output_size);
  if (params->row != 0) return PL_OK;
  return pl_strided_copy_x8(ctx, NULL, &dims->interior, &interior);
}
