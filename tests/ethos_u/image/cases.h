// SPDX-License-Identifier: Apache-2.0
// Payloads with inputs, and checksums of the outputs of TOSA's reference model. cases.py writes the
// C file.
#ifndef TESTS_ETHOS_U_IMAGE_CASES_H_
#define TESTS_ETHOS_U_IMAGE_CASES_H_

#include <stdint.h>

typedef struct {
  const char *name;
  const void *payload;  // aligned to 16 bytes
  uint32_t payload_size;
  const void *const *inputs;
  uint32_t output_crc;  // CRC-32 of all outputs, concatenated
} image_case;

typedef struct {
  const image_case *cases;
  uint32_t count;
  // Memory for the largest of them, aligned to 16 bytes.
  uint8_t *workspace;
  uint32_t workspace_bytes;
  uint8_t *scratch;
  uint32_t scratch_bytes;
  uint8_t *fast_scratch;
  uint32_t fast_scratch_bytes;
} image_cases;

extern const image_cases image;

#endif  // TESTS_ETHOS_U_IMAGE_CASES_H_
