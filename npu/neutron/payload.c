// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/payload.h"

#include <stdbool.h>
#include <string.h>

enum {
  MAGIC = 0x64434D6E,
  WORDS = 15,  // minimum of the microcode
  COUNTS = 3,  // bytes before the header's lists
  VERSIONS = 2,
  // Words of the microcode, some by the version.
  MICROCODE_BYTES = 6,
  WEIGHTS_BYTES = 7,
  SCRATCH_BYTES = 9,
};

static uint64_t aligned(uint64_t size) {
  return (size + NEUTRON_ALIGNMENT - 1) & ~(uint64_t)(NEUTRON_ALIGNMENT - 1);
}

static uint32_t word(const uint8_t *microcode, uint32_t index) {
  const uint8_t *const data = microcode + 4 * index;
  return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
         (uint32_t)data[3] << 24;
}

// Returns whether formats and maps refer to existing entries, each output once.
static bool check_lists(const neutron_payload *payload) {
  for (uint32_t i = 0; i < payload->input_count + payload->output_count; ++i) {
    if (payload->channels_last[i] > 1) {
      return false;
    }
  }
  for (uint32_t i = 0; i < payload->input_count; ++i) {
    if (payload->input_map[i] >= payload->argument_count) {
      return false;
    }
  }
  for (uint32_t i = 0; i < payload->output_count; ++i) {
    bool again = false;
    for (uint32_t j = 0; j < i; ++j) {
      again = again || payload->output_map[i] == payload->output_map[j];
    }
    if (again || payload->output_map[i] >= payload->output_count) {
      return false;
    }
  }
  return true;
}

// Reads the header; gives its size, 0 if it is damaged.
static size_t parse_header(const uint8_t *data, size_t size, neutron_payload *payload,
                           uint8_t *version) {
  if (size < COUNTS) {
    return 0;
  }
  payload->input_count = data[0];
  payload->output_count = data[1];
  payload->argument_count = data[2];
  const uint32_t tensors = payload->input_count + payload->output_count;
  const size_t used = COUNTS + 2 * (size_t)tensors + 1;
  const size_t header = (size_t)aligned(used);
  if (payload->input_count == 0 || payload->output_count == 0 || size < header) {
    return 0;
  }
  for (size_t i = used; i < header; ++i) {
    if (data[i] != 0) {
      return 0;
    }
  }
  payload->channels_last = data + COUNTS;
  payload->input_map = payload->channels_last + tensors;
  payload->output_map = payload->input_map + payload->input_count;
  *version = data[used - 1];
  return *version < VERSIONS && check_lists(payload) ? header : 0;
}

// Memory needed by the microcode. Returns false if it is larger than possible.
static bool parse_memory(neutron_payload *payload, uint8_t version) {
  const uint8_t *const code = payload->microcode;
  const bool first = version == 0;
  const uint64_t scratch = aligned(word(code, SCRATCH_BYTES));
  const uint64_t profile = first ? 0 : aligned(word(code, 10) & 0x7FFFFFFFu);
  const uint64_t debug = first ? 0 : aligned(word(code, 11));
  const uint64_t fetched = aligned(word(code, first ? 10 : 12));
  if (scratch + profile + debug + fetched > INT32_MAX) {
    return false;
  }
  payload->scratch_bytes = (uint32_t)scratch;
  payload->profile_bytes = (uint32_t)profile;
  payload->debug_bytes = (uint32_t)debug;
  payload->fetched_bytes = (uint32_t)fetched;
  return true;
}

neutron_status neutron_payload_parse(const void *data, size_t size, neutron_payload *payload) {
  if (data == NULL || payload == NULL) {
    return NEUTRON_ERROR_NULL;
  }
  if ((uintptr_t)data % NEUTRON_ALIGNMENT != 0) {
    return NEUTRON_ERROR_ALIGNMENT;
  }
  memset(payload, 0, sizeof(*payload));
  uint8_t version = 0;
  const size_t header = parse_header(data, size, payload, &version);
  const size_t rest = size - header;
  if (header == 0 || rest < (size_t)WORDS * 4 || rest % NEUTRON_ALIGNMENT != 0) {
    return NEUTRON_ERROR_PAYLOAD;
  }
  payload->microcode = (const uint8_t *)data + header;
  const uint32_t microcode_bytes = word(payload->microcode, MICROCODE_BYTES);
  const uint64_t weights = aligned(microcode_bytes);
  const uint64_t kernels = weights + aligned(word(payload->microcode, WEIGHTS_BYTES));
  const uint32_t counts = version == 0 ? 11 : 13;
  if (word(payload->microcode, 0) != MAGIC || microcode_bytes < (uint32_t)WORDS * 4 ||
      kernels > rest || word(payload->microcode, counts) != payload->input_count ||
      word(payload->microcode, counts + 1) != payload->output_count ||
      !parse_memory(payload, version)) {
    return NEUTRON_ERROR_PAYLOAD;
  }
  payload->weights = payload->microcode + (size_t)weights;
  payload->kernels = payload->microcode + (size_t)kernels;
  return NEUTRON_OK;
}

const char *neutron_status_name(int32_t status) {
  switch (status) {
    case NEUTRON_OK:
      return "NEUTRON_OK";
    case NEUTRON_ERROR_NULL:
      return "NEUTRON_ERROR_NULL";
    case NEUTRON_ERROR_ALIGNMENT:
      return "NEUTRON_ERROR_ALIGNMENT";
    case NEUTRON_ERROR_PAYLOAD:
      return "NEUTRON_ERROR_PAYLOAD";
    case NEUTRON_ERROR_LAYOUT:
      return "NEUTRON_ERROR_LAYOUT";
    case NEUTRON_ERROR_TENSORS:
      return "NEUTRON_ERROR_TENSORS";
    case NEUTRON_ERROR_SCRATCH:
      return "NEUTRON_ERROR_SCRATCH";
    case NEUTRON_ERROR_CONTEXT:
      return "NEUTRON_ERROR_CONTEXT";
    default:
      return "the driver's own error";
  }
}
