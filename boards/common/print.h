// SPDX-License-Identifier: Apache-2.0
//
// Prints text and numbers on the console without printf, which would cost flash and heap.
#ifndef BOARDS_COMMON_PRINT_H_
#define BOARDS_COMMON_PRINT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Prints a string that ends with a zero byte.
void pl_print(const char *text);

// Prints a number in decimal, without leading zeros.
void pl_print_u32(uint32_t value);
void pl_print_i32(int32_t value);

// Prints "0x" and eight hexadecimal digits.
void pl_print_hex32(uint32_t value);

// Prints value / 10^decimals as a decimal fraction with 1..9 digits after the point:
// pl_print_fixed(-1234, 2) prints "-12.34".
void pl_print_fixed(int32_t value, uint32_t decimals);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_COMMON_PRINT_H_
