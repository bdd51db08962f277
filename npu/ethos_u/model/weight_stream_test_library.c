// SPDX-License-Identifier: Apache-2.0
// The weight stream decoder in one call, for weight_decoder.py.
#include <stddef.h>

#include "npu/ethos_u/model/weight_stream.h"

// Decodes `count` weights in pieces of `step`. Returns null, or the error of the stream.
const char *decode_weights(const uint8_t *data, uint32_t size, int16_t *weights, uint32_t count,
                           uint32_t step);

const char *decode_weights(const uint8_t *data, uint32_t size, int16_t *weights, uint32_t count,
                           uint32_t step) {
  npu_weight_stream stream;
  npu_weight_stream_open(&stream, data, size);
  for (uint32_t at = 0; at < count; at += step) {
    const uint32_t n = count - at < step ? count - at : step;
    if (!npu_weight_stream_read(&stream, weights + at, n)) {
      return stream.error;
    }
  }
  return NULL;
}
