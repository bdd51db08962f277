// SPDX-License-Identifier: Apache-2.0
// For files that compile only with optimization: their assembly takes all registers but the stack
// pointer, or they inline functions passed as arguments. Include it first: from there on GCC
// compiles as with -O2 and without a frame pointer, whatever the user's flags are.
#ifndef KERNELS_COMMON_OPTIMIZED_H_
#define KERNELS_COMMON_OPTIMIZED_H_

// Defined where the compiler keeps a register for itself nevertheless: clang has no such pragma,
// and GCC allocates with options that the pragma leaves.
#if defined(__clang__) || !defined(__OPTIMIZE__) || defined(__OPTIMIZE_SIZE__)
#define PL_ONE_REGISTER_LESS
#endif

// Cores with 16-bit instructions have no such assembly. There the pragma would drop flags of the
// build: a fifth more instructions.
#if defined(__GNUC__) && !defined(__clang__) && __ARM_ARCH_ISA_THUMB != 1
#pragma GCC optimize("O2", "omit-frame-pointer", "ira-region=mixed")
#endif

#endif  // KERNELS_COMMON_OPTIMIZED_H_
