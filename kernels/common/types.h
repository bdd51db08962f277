// SPDX-License-Identifier: Apache-2.0
// Arguments of all kernels: pl_<op>_<dtype>(context, params, dims, data).
//
// Params define the computation (strides, zero points, multipliers). Dims define the sizes, in
// elements unless a name contains bytes. Data hold the addresses of tensors and packed constants.
// The op's kernel.py makes all of them ahead of time. It also rejects unsupported calls: every call
// that passes returns PL_OK.
//
// Only scratch and indices are checked at run time. A kernel needing scratch returns
// PL_ERROR_SCRATCH_SIZE, and writes nothing, if the context has less. A kernel with an index
// outside of its table returns PL_ERROR_INDEX.
//
// Tensors are contiguous; the last dimension of a shape in a comment is the innermost. Images are
// NHWC. Activations are aligned to their elements. Outputs may overlap inputs only if a comment or
// kernel.py permits it (its `overlap`: pixels are computed in order, some at a time).
//
// An int8 activation stands for (value - zero_point) * scale, an int8 weight for value * scale with
// a scale for each output channel. "requantize" is the rule of requantize.h.
#ifndef KERNELS_COMMON_TYPES_H_
#define KERNELS_COMMON_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/common/status.h"

#define PL_MAX_RANK 6

// For functions specialized for each function or constant argument.
#define PL_INLINE static inline __attribute__((always_inline))

typedef struct {
  void *scratch;          // aligned to 16 bytes; may be null if scratch_size is 0
  uint32_t scratch_size;  // bytes
} pl_context;

#endif  // KERNELS_COMMON_TYPES_H_
