// SPDX-License-Identifier: Apache-2.0
// Decoder of the compressed weight stream. Internal to the model.
//
// A stream is a row of slices. A slice has a header (Golomb-Rice divisors, perhaps a new palette)
// and chunks. A chunk interleaves up to 12 weights and 12 (or 8) runs of zeros. The unary parts
// come first. The remainders follow the unary parts of the next chunk. Bits count from the least
// significant one.
#ifndef FIRMWARE_ETHOS_U_MODEL_WEIGHT_STREAM_H_
#define FIRMWARE_ETHOS_U_MODEL_WEIGHT_STREAM_H_

#include <stdbool.h>
#include <stdint.h>

enum {
  NPU_CHUNK_SYMBOLS = 12,
  NPU_WEIGHT_INDICES = 544,  // 512 values, after a palette of 32
  // Flow control keeps weights and zero runs within 8 + 12 symbols of each other. In addition, a
  // chunk may be undelivered.
  NPU_WEIGHT_QUEUE = 64,
};

// Decoded weights or lengths of zero runs, not yet delivered.
typedef struct {
  int32_t items[NPU_WEIGHT_QUEUE];
  uint32_t first;  // free running, as is `end`
  uint32_t end;
} npu_symbol_queue;

// One kind of symbol in a slice.
typedef struct {
  uint32_t total;    // in the slice
  uint32_t started;  // symbols with their unary part read
  uint32_t read;     // complete symbols
  uint32_t carry;    // quotient continued in the next chunk
  uint32_t pending;  // symbols of the previous chunk with their remainders still to come
  uint32_t quotients[2][NPU_CHUNK_SYMBOLS + 1];  // of that chunk and of this one, alternating
  uint8_t turn;                                  // index of the previous chunk
  uint8_t divisor;                               // bits of the remainder
} npu_symbol_coder;

typedef struct {
  const uint8_t *data;
  uint32_t size;  // bytes
  uint32_t position;
  uint64_t bits;  // read ahead
  uint32_t bit_count;
  const char *error;  // error of the stream, null if none

  npu_symbol_coder weights;
  npu_symbol_coder zeros;
  npu_symbol_queue weight_queue;
  npu_symbol_queue zero_queue;
  uint32_t undelivered;  // weights of the slice
  uint32_t zero_run;     // zeros to deliver before the next weight
  bool zero_run_due;     // the next zero run follows the last weight
  bool has_zero_runs;
  bool uncompressed;
  bool truncated;  // quotients end after two
  bool has_palette;
  uint32_t palette_size;
  uint32_t index_count;  // indices with a weight
  uint8_t palette_bits;
  int16_t palette[NPU_WEIGHT_INDICES];  // for all indices, including direct ones
} npu_weight_stream;

void npu_weight_stream_open(npu_weight_stream *stream, const uint8_t *data, uint32_t size);

// Decodes the next `count` weights (-255 to 255). Returns false if the stream is corrupt or too
// short; stream->error then has the reason.
bool npu_weight_stream_read(npu_weight_stream *stream, int16_t *weights, uint32_t count);

#endif  // FIRMWARE_ETHOS_U_MODEL_WEIGHT_STREAM_H_
