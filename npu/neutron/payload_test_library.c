// SPDX-License-Identifier: Apache-2.0
// The payload reader in one call, for test_payload.py.
#include <stddef.h>

#include "npu/neutron/payload.h"

// Parses a payload and writes to `numbers`: counts of inputs, outputs and arguments, offsets of
// microcode, weights and kernels, the four sizes, then formats and maps.
neutron_status parse_payload(const void *data, size_t size, uint32_t *numbers);

static uint32_t offset_of(const void *data, const uint8_t *block) {
  return (uint32_t)(block - (const uint8_t *)data);
}

neutron_status parse_payload(const void *data, size_t size, uint32_t *numbers) {
  neutron_payload payload;
  const neutron_status status = neutron_payload_parse(data, size, &payload);
  if (status != NEUTRON_OK) {
    return status;
  }
  const uint32_t tensors = payload.input_count + payload.output_count;
  *numbers++ = payload.input_count;
  *numbers++ = payload.output_count;
  *numbers++ = payload.argument_count;
  *numbers++ = offset_of(data, payload.microcode);
  *numbers++ = offset_of(data, payload.weights);
  *numbers++ = offset_of(data, payload.kernels);
  *numbers++ = payload.scratch_bytes;
  *numbers++ = payload.profile_bytes;
  *numbers++ = payload.debug_bytes;
  *numbers++ = payload.fetched_bytes;
  for (uint32_t i = 0; i < tensors; ++i) {
    *numbers++ = payload.channels_last[i];
  }
  for (uint32_t i = 0; i < payload.input_count; ++i) {
    *numbers++ = payload.input_map[i];
  }
  for (uint32_t i = 0; i < payload.output_count; ++i) {
    *numbers++ = payload.output_map[i];
  }
  return status;
}
