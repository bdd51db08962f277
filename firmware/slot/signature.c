// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/signature.h"

#include "firmware/slot/sha512.h"
#include "monocypher.h"

bool pl_is_signed(const uint8_t signature[64], const uint8_t public_key[32], const uint8_t *message,
                  uint32_t bytes) {
  pl_sha512 sha;
  uint8_t digest[64];
  uint8_t challenge[32];
  pl_sha512_begin(&sha);
  pl_sha512_add(&sha, signature, 32);
  pl_sha512_add(&sha, public_key, 32);
  pl_sha512_add(&sha, message, bytes);
  pl_sha512_end(&sha, digest);
  crypto_eddsa_reduce(challenge, digest);
  return crypto_eddsa_check_equation(signature, public_key, challenge) == 0;
}
