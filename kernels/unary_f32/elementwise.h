// SPDX-License-Identifier: Apache-2.0
// The loop of the functions of this folder.
#ifndef KERNELS_UNARY_F32_ELEMENTWISE_H_
#define KERNELS_UNARY_F32_ELEMENTWISE_H_

#include "kernels/unary_f32/unary_f32.h"

// Defines the kernel `name` of a function float -> float.
#define PL_DEFINE_UNARY_F32(name, function)                                              \
  pl_status name(const pl_context *ctx, const pl_unary_f32_params *params,               \
                 const pl_unary_f32_dims *dims, const pl_unary_f32_data *data) {         \
    (void)ctx;                                                                           \
    (void)params;                                                                        \
    for (int32_t i = 0; i < dims->size; ++i) data->output[i] = function(data->input[i]); \
    return PL_OK;                                                                        \
  }

#endif  // KERNELS_UNARY_F32_ELEMENTWISE_H_
