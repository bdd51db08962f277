// SPDX-License-Identifier: Apache-2.0
//
// Reads the payload of ExecuTorch's NeutronBackend. payload.py describes the format, and refuses
// the same payloads. Nothing is copied: results point into the payload. It must stay valid.
#ifndef FIRMWARE_NEUTRON_PAYLOAD_H_
#define FIRMWARE_NEUTRON_PAYLOAD_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NEUTRON_ALIGNMENT = 16 };  // alignment of the payload, its blocks, and all memory of a run

typedef enum {
  NEUTRON_OK = 0,
  // Less than 0, to differ from all numbers of the driver.
  NEUTRON_ERROR_NULL = -1,       // a pointer that must not be null
  NEUTRON_ERROR_ALIGNMENT = -2,  // a payload, or memory, without alignment
  NEUTRON_ERROR_PAYLOAD = -3,    // a payload that is truncated, damaged or of another version
  NEUTRON_ERROR_LAYOUT = -4,     // a payload with tensors that the core would have to transpose
  NEUTRON_ERROR_TENSORS = -5,    // other inputs or outputs than the payload's, or too many
  NEUTRON_ERROR_SCRATCH = -6,    // less scratch memory than the payload asks for
  NEUTRON_ERROR_CONTEXT = -7,    // less memory for a prepared program than the driver takes
} neutron_status;

#define NEUTRON_MUST_USE __attribute__((warn_unused_result))

// The status's own name, such as "NEUTRON_ERROR_PAYLOAD"; "the driver's own error" for others.
const char *neutron_status_name(int32_t status);

typedef struct {
  const uint8_t *microcode;
  const uint8_t *weights;
  const uint8_t *kernels;
  const uint8_t *input_map;      // place in the call for each input of the NPU
  const uint8_t *output_map;     // likewise; has every output of the call once
  const uint8_t *channels_last;  // for each input, then each output: 1 if it is, else 0
  uint32_t input_count;          // of the NPU
  uint32_t output_count;
  uint32_t argument_count;  // inputs of the call
  // Memory of a run in bytes, each a multiple of the alignment; together less than 2 GB.
  uint32_t scratch_bytes;
  uint32_t profile_bytes;
  uint32_t debug_bytes;
  uint32_t fetched_bytes;  // for weights copied out of flash memory
} neutron_payload;

// NEUTRON_ERROR_NULL, NEUTRON_ERROR_ALIGNMENT, or NEUTRON_ERROR_PAYLOAD.
NEUTRON_MUST_USE neutron_status neutron_payload_parse(const void *data, size_t size,
                                                      neutron_payload *payload);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_NEUTRON_PAYLOAD_H_
