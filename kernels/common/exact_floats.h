// SPDX-License-Identifier: Apache-2.0
// For files that compute with floats: a product and a sum are two operations, as in the reference.
// Include it first. GCC joins them into one in its GNU dialects (-std=gnu17), clang in all.
#ifndef KERNELS_COMMON_EXACT_FLOATS_H_
#define KERNELS_COMMON_EXACT_FLOATS_H_

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#endif  // KERNELS_COMMON_EXACT_FLOATS_H_
