// SPDX-License-Identifier: Apache-2.0
// The payload reader in one call, for test_payload.py.
#include <stddef.h>

#include "npu/ethos_u/payload.h"

// Parses a payload, and writes the result to `numbers`: config, id, command words, bytes of weights
// and scratch, inputs, outputs. For each input and output follow 6 dimensions, element size,
// offset, region, bytes.
ethos_u_status parse_payload(const void *data, size_t size, uint32_t *numbers);

static ethos_u_status write_tensor(ethos_u_status status, const ethos_u_tensor *tensor,
                                   uint32_t **at) {
  if (status == ETHOS_U_OK) {
    for (int i = 0; i < ETHOS_U_TENSOR_RANK; ++i) {
      *(*at)++ = tensor->shape[i];
    }
    *(*at)++ = tensor->element_size;
    *(*at)++ = tensor->offset;
    *(*at)++ = tensor->region;
    *(*at)++ = tensor->bytes;
  }
  return status;
}

ethos_u_status parse_payload(const void *data, size_t size, uint32_t *numbers) {
  ethos_u_payload payload;
  ethos_u_tensor tensor;
  ethos_u_status status = ethos_u_payload_parse(data, size, &payload);
  if (status != ETHOS_U_OK) {
    return status;
  }
  *numbers++ = payload.stream.config;
  *numbers++ = payload.stream.id;
  *numbers++ = payload.stream.count;
  *numbers++ = payload.weights_size;
  *numbers++ = payload.scratch_size;
  *numbers++ = payload.input_count;
  *numbers++ = payload.output_count;
  for (uint32_t i = 0; status == ETHOS_U_OK && i < payload.input_count; ++i) {
    status = write_tensor(ethos_u_payload_input(&payload, i, &tensor), &tensor, &numbers);
  }
  for (uint32_t i = 0; status == ETHOS_U_OK && i < payload.output_count; ++i) {
    status = write_tensor(ethos_u_payload_output(&payload, i, &tensor), &tensor, &numbers);
  }
  return status;
}
