// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_EMBEDDING_EMBEDDING_H_
#define KERNELS_EMBEDDING_EMBEDDING_H_

#include "kernels/common/types.h"

typedef struct pl_embedding_params pl_embedding_params;  // none: null

typedef struct {
  int32_t count;
  int32_t rows;
  int32_t width;  // bytes of a row
} pl_embedding_dims;

typedef struct {
  const void *table;       // [rows, width]
  const int32_t *indices;  // [count]
  void *output;            // [count, width]
} pl_embedding_data;

// output[i] = table[indices[i]], for elements of any size. An index outside of [0, rows) ends the
// call with PL_ERROR_INDEX. The output then has the rows before it.
PL_MUST_USE pl_status pl_embedding_x8(const pl_context *ctx, const pl_embedding_params *params,
                                      const pl_embedding_dims *dims, const pl_embedding_data *data);

#endif  // KERNELS_EMBEDDING_EMBEDDING_H_
