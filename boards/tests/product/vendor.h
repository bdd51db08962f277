// SPDX-License-Identifier: Apache-2.0
//
// Code as vendors write it.
#ifndef BOARDS_TESTS_PRODUCT_VENDOR_H_
#define BOARDS_TESTS_PRODUCT_VENDOR_H_

#ifdef __cplusplus
extern "C" {
#endif

// Sum of `size` bytes, truncated to 16 bits.
int vendor_checksum(const unsigned char *data, int size);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_TESTS_PRODUCT_VENDOR_H_
