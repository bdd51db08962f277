// SPDX-License-Identifier: Apache-2.0
// What all kernels take: pl_<op>_<dtype>(context, params, dims, data).
//
// Params say how to compute (strides, zero points, multipliers), dims how much (sizes in elements
// unless a name says bytes), data where (addresses of tensors and packed constants). All of them
// are made ahead of time by the op's kernel.py, which also rejects what a kernel cannot do; a
// kernel checks only what is known at run time. Outputs may overlap inputs only where kernel.py
// says so.
#ifndef KERNELS_COMMON_TYPES_H_
#define KERNELS_COMMON_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/common/status.h"

#define PL_MAX_RANK 6

typedef struct {
  void *scratch;          // aligned to 16 bytes; may be null if scratch_size is 0
  uint32_t scratch_size;  // bytes
} pl_context;

#endif  // KERNELS_COMMON_TYPES_H_
