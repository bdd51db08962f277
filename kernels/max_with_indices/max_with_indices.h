// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MAX_WITH_INDICES_MAX_WITH_INDICES_H_
#define KERNELS_MAX_WITH_INDICES_MAX_WITH_INDICES_H_

#include "kernels/common/types.h"

typedef struct pl_max_with_indices_params pl_max_with_indices_params;  // none: null

typedef struct {
  int32_t outer;
  int32_t size;
  int32_t inner;
} pl_max_with_indices_dims;

typedef struct {
  const int8_t *input;  // [outer, size, inner]
  int8_t *values;       // [outer, inner]
  int32_t *indices;     // [outer, inner]
} pl_max_with_indices_data;

// The largest value over size, and where it is: the first place if there are several.
PL_MUST_USE pl_status pl_max_with_indices_s8(const pl_context *ctx,
                                             const pl_max_with_indices_params *params,
                                             const pl_max_with_indices_dims *dims,
                                             const pl_max_with_indices_data *data);

#endif  // KERNELS_MAX_WITH_INDICES_MAX_WITH_INDICES_H_
