// SPDX-License-Identifier: Apache-2.0
// Reads ExecuTorch's Ethos-U payload: blocks of a 16-byte name, uint32 size, 12 reserved bytes and
// data padded to 16 bytes, from `vela_bin_stream` to `vela_end_stream`. Nothing is copied: results
// point into the payload. It must stay valid and be aligned to 16 bytes. Numbers are little-endian.
#ifndef FIRMWARE_ETHOS_U_PAYLOAD_H_
#define FIRMWARE_ETHOS_U_PAYLOAD_H_

#include <stddef.h>
#include <stdint.h>

#include "npu/ethos_u/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ETHOS_U_REGION_WEIGHTS = 0,  // weights and constants, read only
  ETHOS_U_REGION_SCRATCH = 1,
  ETHOS_U_REGION_FAST_SCRATCH = 2,
  ETHOS_U_REGION_COUNT = 8,
  ETHOS_U_TENSOR_RANK = 6,
  ETHOS_U_ALIGNMENT = 16,
};

// Program of the NPU: command words for one configuration.
typedef struct {
  const uint32_t *words;
  uint32_t count;   // number of words
  uint32_t config;  // the NPU's CONFIG register it was compiled for: MACs, SHRAM, product
  uint32_t id;      // architecture it was compiled for, as in the NPU's ID register
} ethos_u_stream;

typedef struct {
  ethos_u_stream stream;
  const uint8_t *weights;  // region 0
  uint32_t weights_size;   // bytes
  uint32_t scratch_size;   // bytes of region 1, inputs and outputs included
  uint32_t input_count;
  uint32_t output_count;
  const uint8_t *inputs;  // entries, see ethos_u_payload_tensor
  const uint8_t *outputs;
} ethos_u_payload;

// One input or output; shape is padded in front with 1 to six dimensions.
typedef struct {
  uint32_t shape[ETHOS_U_TENSOR_RANK];
  uint32_t element_size;  // bytes
  uint32_t offset;        // bytes from the start of its region
  uint32_t region;        // scratch or fast scratch
  uint32_t bytes;         // bytes of the whole tensor
} ethos_u_tensor;

// Returns ETHOS_U_ERROR_ALIGNMENT, or ETHOS_U_ERROR_PAYLOAD if a block is missing, unknown, too
// long, duplicated or wrong, or if an input or output makes no sense.
ETHOS_U_MUST_USE ethos_u_status ethos_u_payload_parse(const void *data, size_t size,
                                                      ethos_u_payload *payload);

// The input or output at that index. Returns ETHOS_U_ERROR_PAYLOAD if it does not exist or makes no
// sense.
ETHOS_U_MUST_USE ethos_u_status ethos_u_payload_input(const ethos_u_payload *payload,
                                                      uint32_t index, ethos_u_tensor *tensor);
ETHOS_U_MUST_USE ethos_u_status ethos_u_payload_output(const ethos_u_payload *payload,
                                                       uint32_t index, ethos_u_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_PAYLOAD_H_
