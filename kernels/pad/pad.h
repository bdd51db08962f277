// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_PAD_PAD_H_
#define KERNELS_PAD_PAD_H_

#include "kernels/strided_copy/strided_copy.h"

typedef struct {
  int32_t value;
  int32_t
      row;  // 0, or another number where nothing of the input is in the output: a row of padding
} pl_pad_params;

typedef struct {
  int32_t output_size;            // bytes of the whole output
  pl_strided_copy_dims interior;  // the input's place in the output
} pl_pad_dims;

typedef struct {
  const void *input;
  void *output;
} pl_pad_data;

// Pads dimensions of a byte tensor with a value, the quantized one. Larger elements have their
// bytes as a dimension, and are padded with 0.
PL_MUST_USE pl_status pl_pad_s8(const pl_context *ctx, const pl_pad_params *params,
                                const pl_pad_dims *dims, const pl_pad_data *data);

#endif  // KERNELS_PAD_PAD_H_
