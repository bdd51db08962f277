// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#include "firmware/runtime/plan.h"

// Remainders of CRC-32 for four bits.
static const uint32_t remainders[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

static uint32_t with_byte(uint32_t crc, uint8_t byte) {
  crc ^= byte;
  crc = crc >> 4 ^ remainders[crc & 15];
  return crc >> 4 ^ remainders[crc & 15];
}

pl_status pl_constants_check(const pl_constants *constants) {
  uint32_t crc = UINT32_MAX;
  for (uint32_t i = 0; i < constants->count; ++i) {
    const uint8_t *const bytes = (const uint8_t *)constants->items[i].data;
    for (uint32_t at = 0; at < constants->items[i].bytes; ++at) {
      crc = with_byte(crc, bytes[at]);
    }
  }
  return ~crc == constants->crc ? PL_OK : PL_ERROR_WEIGHTS;
}
