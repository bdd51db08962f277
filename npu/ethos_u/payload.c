// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/payload.h"

#include <stdbool.h>
#include <string.h>

enum {
  HEADER_SIZE = 32,
  NAME_SIZE = 16,
  TENSOR_SIZE = 36,
  // Driver actions before the command words.
  ACTION_CONFIG = 1,
  ACTION_COMMANDS = 2,
  ACTION_NOP = 5,
  FOUR_CC = 0x31504F43,  // "COP1"
};

static uint32_t read32(const uint8_t *data) {
  return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
         (uint32_t)data[3] << 24;
}

typedef struct {
  const uint8_t *data;
  uint32_t size;
} block;

// The block at *offset; the offset moves on to its end. Returns false if it does not fit.
static bool next_block(const uint8_t *data, size_t size, size_t *offset, const uint8_t **name,
                       block *found) {
  if (size - *offset < HEADER_SIZE) {
    return false;
  }
  *name = data + *offset;
  found->data = data + *offset + HEADER_SIZE;
  found->size = read32(*name + NAME_SIZE);
  *offset += HEADER_SIZE;
  const uint64_t padded =
      ((uint64_t)found->size + ETHOS_U_ALIGNMENT - 1) & ~(uint64_t)(ETHOS_U_ALIGNMENT - 1);
  if (padded > size - *offset) {
    return false;
  }
  *offset += (size_t)padded;
  return true;
}

static bool is_named(const uint8_t *name, const char *text) {
  return strncmp((const char *)name, text, NAME_SIZE) == 0;
}

static ethos_u_status parse_actions(block commands, ethos_u_stream *stream) {
  if (commands.size % 4 != 0 || commands.size < 4 || read32(commands.data) != FOUR_CC) {
    return ETHOS_U_ERROR_PAYLOAD;
  }
  bool configured = false;
  for (uint32_t at = 4; at < commands.size;) {
    const uint32_t tag = read32(commands.data + at);
    at += 4;
    switch (tag & 0xFF) {
      case ACTION_NOP:
        break;
      case ACTION_CONFIG:
        if (commands.size - at < 8) {
          return ETHOS_U_ERROR_PAYLOAD;
        }
        stream->config = read32(commands.data + at);
        stream->id = read32(commands.data + at + 4);
        configured = true;
        at += 8;
        break;
      case ACTION_COMMANDS: {
        const uint32_t count = tag >> 16 | (tag >> 8 & 0xFF) << 16;
        if (!configured || count > (commands.size - at) / 4) {
          return ETHOS_U_ERROR_PAYLOAD;
        }
        if ((uintptr_t)(commands.data + at) % ETHOS_U_ALIGNMENT != 0) {
          return ETHOS_U_ERROR_ALIGNMENT;
        }
        stream->words = (const uint32_t *)(const void *)(commands.data + at);
        stream->count = count;
        return ETHOS_U_OK;
      }
      default:
        return ETHOS_U_ERROR_PAYLOAD;
    }
  }
  return ETHOS_U_ERROR_PAYLOAD;
}

// One input or output; false if it makes no sense. payload.py has the same checks.
static bool read_tensor(const ethos_u_payload *payload, const uint8_t *entry,
                        ethos_u_tensor *tensor) {
  for (int i = 0; i < ETHOS_U_TENSOR_RANK; ++i) {
    tensor->shape[i] = read32(entry + 4 * i);
  }
  tensor->element_size = read32(entry + 24);
  tensor->offset = read32(entry + 28);
  tensor->region = read32(entry + 32);
  const uint32_t element = tensor->element_size;
  uint64_t total = element;
  for (int i = 0; i < ETHOS_U_TENSOR_RANK; ++i) {
    total *= tensor->shape[i];
    if (total == 0 || total > INT32_MAX) {
      return false;
    }
  }
  tensor->bytes = (uint32_t)total;
  if ((element != 1 && element != 2 && element != 4 && element != 8) ||
      tensor->offset > INT32_MAX) {
    return false;
  }
  // The payload does not contain the size of the fast scratch.
  return tensor->region == ETHOS_U_REGION_SCRATCH
             ? tensor->offset + tensor->bytes <= payload->scratch_size
             : tensor->region == ETHOS_U_REGION_FAST_SCRATCH;
}

static bool check_tensors(const ethos_u_payload *payload, const uint8_t *entries, uint32_t count) {
  ethos_u_tensor tensor;
  for (uint32_t i = 0; i < count; ++i) {
    if (!read_tensor(payload, entries + (size_t)i * TENSOR_SIZE, &tensor)) {
      return false;
    }
  }
  return true;
}

// Entries of an I/O block; false if their count does not fit it.
static bool parse_tensors(block tensors, uint32_t *count, const uint8_t **entries) {
  if (tensors.size < 4) {
    return false;
  }
  *count = read32(tensors.data);
  *entries = tensors.data + 4;
  return *count <= (tensors.size - 4) / TENSOR_SIZE;
}

ethos_u_status ethos_u_payload_parse(const void *data, size_t size, ethos_u_payload *payload) {
  if (data == NULL || payload == NULL) {
    return ETHOS_U_ERROR_NULL;
  }
  if ((uintptr_t)data % ETHOS_U_ALIGNMENT != 0) {
    return ETHOS_U_ERROR_ALIGNMENT;
  }
  memset(payload, 0, sizeof(*payload));
  const uint8_t *bytes = data;
  size_t offset = 0;
  const uint8_t *name = NULL;
  block found = {NULL, 0};
  if (!next_block(bytes, size, &offset, &name, &found) || !is_named(name, "vela_bin_stream")) {
    return ETHOS_U_ERROR_PAYLOAD;
  }
  enum { COMMANDS = 1, WEIGHTS = 2, SCRATCH = 4, INPUTS = 8, OUTPUTS = 16, ALL = 31 };
  unsigned seen = 0;
  while (next_block(bytes, size, &offset, &name, &found)) {
    unsigned block_seen = 0;
    if (is_named(name, "vela_end_stream")) {
      const bool sound = seen == ALL &&
                         check_tensors(payload, payload->inputs, payload->input_count) &&
                         check_tensors(payload, payload->outputs, payload->output_count);
      return sound ? ETHOS_U_OK : ETHOS_U_ERROR_PAYLOAD;
    }
    if (is_named(name, "cmd_data")) {
      const ethos_u_status status = parse_actions(found, &payload->stream);
      if (status != ETHOS_U_OK) {
        return status;
      }
      block_seen = COMMANDS;
    } else if (is_named(name, "weight_data")) {
      payload->weights = found.data;
      payload->weights_size = found.size;
      block_seen = WEIGHTS;
    } else if (is_named(name, "scratch_size") && found.size == 4) {
      payload->scratch_size = read32(found.data);
      block_seen = SCRATCH;
    } else if (is_named(name, "scratch_data")) {
      payload->scratch_size = found.size;
      block_seen = SCRATCH;
    } else if (is_named(name, "inputs") &&
               parse_tensors(found, &payload->input_count, &payload->inputs)) {
      block_seen = INPUTS;
    } else if (is_named(name, "outputs") &&
               parse_tensors(found, &payload->output_count, &payload->outputs)) {
      block_seen = OUTPUTS;
    }
    // Unknown, wrong, or a duplicate.
    if (block_seen == 0 || (seen & block_seen) != 0) {
      return ETHOS_U_ERROR_PAYLOAD;
    }
    seen |= block_seen;
  }
  return ETHOS_U_ERROR_PAYLOAD;
}

static ethos_u_status find_tensor(const ethos_u_payload *payload, const uint8_t *entries,
                                  uint32_t count, uint32_t index, ethos_u_tensor *tensor) {
  if (tensor == NULL) {
    return ETHOS_U_ERROR_NULL;
  }
  const bool found =
      index < count && read_tensor(payload, entries + (size_t)index * TENSOR_SIZE, tensor);
  return found ? ETHOS_U_OK : ETHOS_U_ERROR_PAYLOAD;
}

ethos_u_status ethos_u_payload_input(const ethos_u_payload *payload, uint32_t index,
                                     ethos_u_tensor *tensor) {
  return find_tensor(payload, payload->inputs, payload->input_count, index, tensor);
}

ethos_u_status ethos_u_payload_output(const ethos_u_payload *payload, uint32_t index,
                                      ethos_u_tensor *tensor) {
  return find_tensor(payload, payload->outputs, payload->output_count, index, tensor);
}
