// SPDX-License-Identifier: Apache-2.0
// Ed25519 (RFC 8032) on Monocypher's arithmetic.
#ifndef FIRMWARE_SLOT_SIGNATURE_H_
#define FIRMWARE_SLOT_SIGNATURE_H_

#include <stdbool.h>
#include <stdint.h>

// Returns true if `signature` is that of the message by the owner of `public_key`.
bool pl_is_signed(const uint8_t signature[64], const uint8_t public_key[32], const uint8_t *message,
                  uint32_t bytes);

#endif  // FIRMWARE_SLOT_SIGNATURE_H_
