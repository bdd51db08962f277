// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_COMMON_SQRT_F32_H_
#define KERNELS_COMMON_SQRT_F32_H_

// The square root, correctly rounded: IEEE 754. (The C library's sets errno, a variable that
// kernels avoid.)
float pl_sqrt_f32(float x);

#endif  // KERNELS_COMMON_SQRT_F32_H_
