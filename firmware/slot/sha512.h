// SPDX-License-Identifier: Apache-2.0
// SHA-512 (FIPS 180-4).
#ifndef FIRMWARE_SLOT_SHA512_H_
#define FIRMWARE_SLOT_SHA512_H_

#include <stdint.h>

typedef struct {
  uint64_t hash[8];
  uint64_t bytes;
  uint8_t block[128];
} pl_sha512;

void pl_sha512_begin(pl_sha512 *sha);
void pl_sha512_add(pl_sha512 *sha, const uint8_t *data, uint32_t bytes);
void pl_sha512_end(pl_sha512 *sha, uint8_t digest[64]);

#endif  // FIRMWARE_SLOT_SHA512_H_
