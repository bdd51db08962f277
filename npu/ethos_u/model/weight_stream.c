// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/weight_stream.h"

#include <string.h>

enum {
  ZERO_RUNS_OFF = 6,  // ZDIV: no zero runs
  END_OF_STREAM = 7,  // ZDIV: align to a byte, then a slice with a palette
  MAX_ZERO_DIVISOR = 3,
  UNCOMPRESSED = 7,  // WDIV
  MAX_WEIGHT_DIVISOR = 5,
  VALUES = 512,  // sign and 8 bits of magnitude
  BALANCE = 8,   // weights may run ahead of zero runs by fewer than this
};

// Zero runs are shorter than this. With 12 more for a quotient's growth in a chunk, and the
// remainder, they fit 32 bits.
static const uint32_t MAX_RUN = (uint32_t)1 << 31;

void npu_weight_stream_open(npu_weight_stream *stream, const uint8_t *data, uint32_t size) {
  memset(stream, 0, sizeof(*stream));
  stream->data = data;
  stream->size = size;
}

static bool corrupt(npu_weight_stream *stream, const char *error) {
  if (stream->error == NULL) {
    stream->error = error;
  }
  return false;
}

// Reads ahead to at least 56 bits, or to the end. A whole word at once where there is one.
static void refill(npu_weight_stream *stream) {
  if (stream->size - stream->position >= sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, stream->data + stream->position, sizeof(word));
    stream->bits |= word << stream->bit_count;
    stream->position += (63 - stream->bit_count) / 8;
    stream->bit_count |= 56;
    return;
  }
  while (stream->bit_count < 56 && stream->position < stream->size) {
    stream->bits |= (uint64_t)stream->data[stream->position++] << stream->bit_count;
    stream->bit_count += 8;
  }
}

// The next n <= 32 bits; 0 and an error past the end.
static inline uint32_t take(npu_weight_stream *stream, uint32_t n) {
  if (stream->bit_count < n) {
    refill(stream);
    if (stream->bit_count < n) {
      (void)corrupt(stream, "ends too early");
      stream->bit_count = 0;
      stream->bits = 0;
      return 0;
    }
  }
  const uint32_t value = (uint32_t)stream->bits & (uint32_t)(((uint64_t)1 << n) - 1);
  stream->bits >>= n;
  stream->bit_count -= n;
  return value;
}

static bool is_empty(const npu_symbol_queue *queue) { return queue->first == queue->end; }

static int32_t pop(npu_symbol_queue *queue) {
  return queue->items[queue->first++ % NPU_WEIGHT_QUEUE];
}

static void start_coder(npu_symbol_coder *coder, uint32_t total, uint32_t divisor) {
  memset(coder, 0, sizeof(*coder));
  coder->total = total;
  coder->divisor = (uint8_t)divisor;
}

// Weight of a sign-and-magnitude value.
static int16_t signed_weight(uint32_t value) {
  const int32_t magnitude = (int32_t)(value >> 1);
  return (int16_t)((value & 1) != 0 ? -magnitude : magnitude);
}

static void read_palette(npu_weight_stream *stream) {
  uint32_t direct = take(stream, 5);
  uint32_t size = take(stream, 5);
  if (size > 0) {
    ++size;
  }
  stream->palette_bits = (uint8_t)(take(stream, 3) + 2);
  for (uint32_t i = 0; i < size; ++i) {
    stream->palette[i] = signed_weight(take(stream, stream->palette_bits));
  }
  stream->palette_size = size;
  stream->index_count = size;
  for (; direct < VALUES; ++direct) {
    stream->palette[stream->index_count++] = signed_weight(direct);
  }
  stream->has_palette = true;
}

static bool start_slice(npu_weight_stream *stream) {
  uint32_t zero_divisor = take(stream, 3);
  while (zero_divisor == END_OF_STREAM && stream->error == NULL) {
    (void)take(stream, stream->bit_count % 8);
    stream->has_palette = false;
    zero_divisor = take(stream, 3);
  }
  const uint32_t length = take(stream, 15) + 1;
  uint32_t weight_divisor = take(stream, 3);
  stream->truncated = take(stream, 1) != 0;
  const bool new_palette = take(stream, 1) != 0;
  if (zero_divisor > MAX_ZERO_DIVISOR && zero_divisor != ZERO_RUNS_OFF) {
    return corrupt(stream, "has a reserved zero-run divisor");
  }
  if (weight_divisor > MAX_WEIGHT_DIVISOR && weight_divisor != UNCOMPRESSED) {
    return corrupt(stream, "has a reserved weight divisor");
  }
  const bool zero_runs = zero_divisor != ZERO_RUNS_OFF;
  if (new_palette) {
    read_palette(stream);
  } else if (!stream->has_palette) {
    return corrupt(stream, "starts without a palette");
  } else if (zero_runs != stream->has_zero_runs) {
    return corrupt(stream, "changes zero runs without a palette");
  }
  stream->has_zero_runs = zero_runs;
  stream->uncompressed = weight_divisor == UNCOMPRESSED;
  if (stream->uncompressed) {
    weight_divisor = stream->palette_bits;
    if (stream->palette_size > 0) {
      for (weight_divisor = 0; 1u << weight_divisor < stream->palette_size;) {
        ++weight_divisor;
      }
    }
  }
  start_coder(&stream->weights, length, weight_divisor);
  start_coder(&stream->zeros, zero_runs ? length + (new_palette ? 1 : 0) : 0, zero_divisor);
  stream->undelivered = length;
  stream->zero_run_due = zero_runs && new_palette;
  return stream->error == NULL;
}

// Reads the remainders of the symbols started by the previous chunk.
static bool finish(npu_weight_stream *stream, npu_symbol_coder *coder, npu_symbol_queue *queue,
                   const int16_t *palette, uint32_t limit) {
  uint32_t n = coder->total - coder->read;
  n = n < coder->pending ? n : coder->pending;
  const uint32_t divisor = coder->divisor;
  const uint32_t mask = (1u << divisor) - 1;
  const uint32_t *quotients = coder->quotients[coder->turn];
  // The number of remainders that surely fit 32 bits together.
  const uint32_t at_once = divisor == 0 ? NPU_CHUNK_SYMBOLS : 32 / divisor;
  const uint32_t end = queue->end;
  for (uint32_t i = 0; i < n;) {
    const uint32_t stop = n - i < at_once ? n : i + at_once;
    uint32_t remainders = take(stream, (stop - i) * divisor);
    for (; i < stop; ++i, remainders >>= divisor) {
      const uint32_t symbol = (quotients[i] << divisor) + (remainders & mask);
      if (symbol >= limit) {
        return false;
      }
      queue->items[(end + i) % NPU_WEIGHT_QUEUE] =
          palette != NULL ? palette[symbol] : (int32_t)symbol;
    }
  }
  queue->end = end + n;
  coder->read += n;
  return true;
}

static uint32_t read_weight_quotients(npu_weight_stream *stream, uint32_t unary0,
                                      uint32_t *quotients) {
  npu_symbol_coder *coder = &stream->weights;
  if (stream->uncompressed) {
    const uint32_t symbols = coder->divisor > 5 ? 8 : NPU_CHUNK_SYMBOLS;
    memset(quotients, 0, symbols * sizeof(quotients[0]));
    return symbols;
  }
  uint32_t ones = 0;
  for (uint32_t bits = unary0; bits != 0; bits &= bits - 1) {
    ++ones;
  }
  uint32_t unary1 = take(stream, ones);
  // Branchless: the symbols that end are effectively random.
  uint32_t carry = coder->carry;
  uint32_t count = 0;
  for (int i = 0; i < NPU_CHUNK_SYMBOLS; ++i) {
    const uint32_t one = unary0 >> i & 1;
    const uint32_t two = one & unary1;
    const uint32_t ends = stream->truncated | (two ^ 1);
    unary1 >>= one;
    carry += one + two;
    quotients[count] = carry;
    count += ends;
    carry = ends != 0 ? 0 : carry;
  }
  coder->carry = carry;
  return count;
}

static uint32_t read_zero_quotients(npu_weight_stream *stream, uint32_t *quotients) {
  npu_symbol_coder *coder = &stream->zeros;
  const uint32_t length = coder->divisor == MAX_ZERO_DIVISOR ? 8 : NPU_CHUNK_SYMBOLS;
  const uint32_t unary = take(stream, length);
  uint32_t carry = coder->carry;
  uint32_t count = 0;
  for (uint32_t i = 0; i < length; ++i) {
    const uint32_t ends = (unary >> i & 1) ^ 1;
    carry += 1 - ends;
    quotients[count] = carry;
    count += ends;
    carry = ends != 0 ? 0 : carry;
  }
  coder->carry = carry;
  return count;
}

// Reads the unary parts of a chunk and the remainders of the one before.
static bool read_chunk(npu_weight_stream *stream) {
  npu_symbol_coder *weights = &stream->weights;
  npu_symbol_coder *zeros = &stream->zeros;
  const int32_t balance = stream->has_zero_runs ? (int32_t)(weights->started - zeros->started) : 0;
  const bool with_weights = balance < BALANCE && weights->started < weights->total;
  const bool with_zeros = balance >= 0 && zeros->started < zeros->total;
  uint32_t weight_count = 0;
  uint32_t zero_count = 0;
  const uint32_t unary0 = with_weights && !stream->uncompressed ? take(stream, 12) : 0;
  if (with_zeros) {
    zero_count = read_zero_quotients(stream, zeros->quotients[zeros->turn ^ 1]);
  }
  if (with_weights) {
    weight_count = read_weight_quotients(stream, unary0, weights->quotients[weights->turn ^ 1]);
  }
  // A quotient that is already too large is refused before its end. Otherwise it would grow with
  // the stream.
  if (!finish(stream, weights, &stream->weight_queue, stream->palette, stream->index_count) ||
      weights->carry >= NPU_WEIGHT_INDICES) {
    return corrupt(stream, "has a weight beyond 9 bits");
  }
  if (!finish(stream, zeros, &stream->zero_queue, NULL, MAX_RUN) ||
      zeros->carry >= MAX_RUN >> zeros->divisor) {
    return corrupt(stream, "has a zero run beyond 31 bits");
  }
  weights->started += weight_count;
  weights->pending = weight_count;
  weights->turn ^= 1;
  zeros->started += zero_count;
  zeros->pending = zero_count;
  zeros->turn ^= 1;
  return stream->error == NULL;
}

bool npu_weight_stream_read(npu_weight_stream *stream, int16_t *weights, uint32_t count) {
  int16_t *const end = weights + count;
  while (weights < end) {
    if (stream->zero_run > 0) {
      const uint32_t rest = (uint32_t)(end - weights);
      const uint32_t n = stream->zero_run < rest ? stream->zero_run : rest;
      for (uint32_t i = 0; i < n; ++i) {
        *weights++ = 0;
      }
      stream->zero_run -= n;
    } else if (stream->zero_run_due) {
      if (!is_empty(&stream->zero_queue)) {
        stream->zero_run = (uint32_t)pop(&stream->zero_queue);
        stream->zero_run_due = false;
      } else if (!read_chunk(stream)) {
        return false;
      }
    } else if (!is_empty(&stream->weight_queue)) {
      const uint32_t rest = (uint32_t)(end - weights);
      const uint32_t ready = stream->weight_queue.end - stream->weight_queue.first;
      const uint32_t n = stream->has_zero_runs ? 1 : ready < rest ? ready : rest;
      for (uint32_t i = 0; i < n; ++i) {
        *weights++ = (int16_t)pop(&stream->weight_queue);
      }
      stream->undelivered -= n;
      stream->zero_run_due = stream->has_zero_runs;
    } else if (stream->undelivered == 0 ? !start_slice(stream) : !read_chunk(stream)) {
      return false;
    }
  }
  return true;
}
