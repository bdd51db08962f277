// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_BINARY_BINARY_S16_H_
#define KERNELS_BINARY_BINARY_S16_H_

#include "kernels/binary/binary.h"

typedef pl_binary_params pl_binary_s16_params;  // all zero points are 0
typedef pl_binary_dims pl_binary_s16_dims;

typedef struct {
  const int16_t *a;
  const int16_t *b;
  const int32_t *factors;  // [2], for less and equal: factors of a and b
  void *output;            // int16, of less and equal bool; as in pl_binary_data
} pl_binary_s16_data;

// Same as those of int8, except where documented.
PL_MUST_USE pl_status pl_maximum_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                                     const pl_binary_s16_dims *dims,
                                     const pl_binary_s16_data *data);
PL_MUST_USE pl_status pl_minimum_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                                     const pl_binary_s16_dims *dims,
                                     const pl_binary_s16_data *data);

// a * factors[0] < b * factors[1].
PL_MUST_USE pl_status pl_less_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                                  const pl_binary_s16_dims *dims, const pl_binary_s16_data *data);

// (a * factors[0] == b * factors[1]) != negated.
PL_MUST_USE pl_status pl_equal_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                                   const pl_binary_s16_dims *dims, const pl_binary_s16_data *data);

// The quotient has 30 fraction bits, and is rounded once more (kernels/common/wide.h).
PL_MUST_USE pl_status pl_div_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                                 const pl_binary_s16_dims *dims, const pl_binary_s16_data *data);

// The product is rounded once (kernels/common/wide.h).
PL_MUST_USE pl_status pl_prelu_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                                   const pl_binary_s16_dims *dims, const pl_binary_s16_data *data);

#endif  // KERNELS_BINARY_BINARY_S16_H_
