// SPDX-License-Identifier: Apache-2.0
// What all kernels take: pl_<op>_<dtype>(context, params, dims, data).
//
// Params say how to compute (strides, zero points, multipliers), dims how much (sizes in elements
// unless a name says bytes), data where (addresses of tensors and packed constants). All of them
// are made ahead of time by the op's kernel.py, which also rejects what a kernel cannot do: any
// call that it lets pass returns PL_OK. Only scratch and indices are left to check at run time; a
// kernel that needs scratch returns PL_ERROR_SCRATCH_SIZE, and writes nothing, if the context has
// less, one that is given the index of nothing PL_ERROR_INDEX.
//
// Tensors are contiguous, the last dimension of a shape in a comment innermost; images are NHWC.
// Activations are aligned to their elements, outputs may overlap inputs only where a comment or
// kernel.py says so (its `overlap`: pixels are computed in order, some at a time). An int8
// activation stands for (value - zero_point) * scale, an int8 weight for value * scale with a scale
// for each output channel; "requantize" is the rule of requantize.h.
#ifndef KERNELS_COMMON_TYPES_H_
#define KERNELS_COMMON_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/common/status.h"

#define PL_MAX_RANK 6

// For what is made anew for each function or constant that it is called with.
#define PL_INLINE static inline __attribute__((always_inline))

typedef struct {
  void *scratch;          // aligned to 16 bytes; may be null if scratch_size is 0
  uint32_t scratch_size;  // bytes
} pl_context;

#endif  // KERNELS_COMMON_TYPES_H_
