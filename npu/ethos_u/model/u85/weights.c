// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/u85/weights.h"

#include <string.h>

enum {
  OFM_LANES = 4,
  IFM_LANES = 8,
  SPARSE_LANES = 16,
  SUB_KERNEL = 8,  // dilation included
  FAST_HEADER = 32,
  FAST_PALETTE = 16,
};

static int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }

static int32_t round_up(int32_t value, int32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// OFM depth of a microblock: the MAC units are arranged by ACC_FORMAT. 0 for unknown ones.
static int32_t ublock_depth(uint32_t log2_macs, uint32_t microblock) {
  static const uint8_t DEPTHS[][6] = {
      // 1x1, 1x2, 1x4, 2x2, 2x4, 4x4
      {16, 8, 0, 0, 0, 0},    // 128
      {0, 16, 8, 8, 0, 0},    // 256
      {0, 0, 16, 16, 0, 0},   // 512
      {0, 0, 32, 32, 16, 0},  // 1024
      {0, 0, 64, 64, 0, 16},  // 2048
  };
  return microblock < 6 ? DEPTHS[log2_macs - 7][microblock] : 0;
}

static void decode_stream(npu_machine *machine, npu_u85_weights *weights, uint32_t index) {
  static const uint16_t KEYS[NPU_U85_MAX_STREAMS] = {NPU_SET_WEIGHT_BASE, NPU_SET_WEIGHT1_BASE,
                                                     NPU_SET_WEIGHT2_BASE, NPU_SET_WEIGHT3_BASE};
  const uint32_t region = npu_register(machine, NPU_SET_WEIGHT_REGION) & 7;
  const uint32_t length = npu_register(machine, KEYS[index] + 1u);
  weights->streams[index] = NULL;
  weights->bytes[index] = length;
  if (!npu_ok(machine) || length == 0) {
    return;
  }
  const int64_t base = (int64_t)npu_register_address(machine, KEYS[index]);
  const uint8_t *data = npu_access_region(machine, NPU_SET_WEIGHT_REGION, region, false, base,
                                          base + (int64_t)length);
  npu_count_bytes(machine, region, false, length);
  weights->streams[index] = data == NULL ? NULL : data + base;
}

bool npu_u85_weights_decode(npu_machine *machine, npu_u85_weights *weights) {
  const uint32_t format = npu_register(machine, NPU_SET_WEIGHT_FORMAT);
  const uint32_t accumulators = npu_register(machine, NPU_SET_ACC_FORMAT);
  const uint32_t stride = npu_register(machine, NPU_SET_KERNEL_STRIDE);
  weights->fast = (format & 1) != 0;
  weights->sparse = (format >> 4 & 1) != 0;
  weights->part_kernel = !weights->depthwise && (stride >> 2 & 1) != 0;
  weights->log2_macs = machine->config->config & 15;
  weights->stream_count = machine->config->cores;
  weights->block_depth = (int32_t)npu_register(machine, NPU_SET_OFM_BLK_DEPTH_M1) + 1;
  weights->ublock_depth = ublock_depth(weights->log2_macs, accumulators >> 8 & 7);
  if (weights->ublock_depth == 0) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_ACC_FORMAT, "microblock",
                    accumulators >> 8 & 7);
  }
  if ((stride >> 5 & 1) != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_KERNEL_STRIDE, "decomposition", 1);
  }
  if (weights->depthwise && (weights->fast || weights->sparse)) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_WEIGHT_FORMAT,
                    "weight_format, of a depthwise convolution", format);
  }
  const uint32_t count = weights->fast ? 1 : weights->stream_count;
  for (uint32_t i = 0; i < count; ++i) {
    decode_stream(machine, weights, i);
  }
  if (npu_ok(machine) && weights->fast && weights->bytes[0] < FAST_HEADER) {
    return npu_fail(machine, ETHOS_U_ERROR_WEIGHT_STREAM, NPU_SET_WEIGHT_LENGTH,
                    "bytes, less than a header", weights->bytes[0]);
  }
  return npu_ok(machine);
}

// The fast format: a header, then 8, 4 or 2 bits a weight.
typedef struct {
  const uint8_t *data;
  uint64_t count;  // of weights
  bool raw;
  uint8_t bits;    // a weight
  int16_t adjust;  // subtracted from raw weights
  int16_t palette[FAST_PALETTE];
  uint64_t at;    // the next weight of this stream, as if it had the whole stream
  int64_t chunk;  // weights of a stream before those of the next stream
} fast_stream;

static uint32_t header_bits(const uint8_t *header, uint32_t first, uint32_t count) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < count; ++i) {
    value |= (uint32_t)(header[(first + i) / 8] >> (first + i) % 8 & 1) << i;
  }
  return value;
}

static void open_fast(fast_stream *fast, const npu_u85_weights *weights) {
  const uint8_t *header = weights->streams[0];
  fast->raw = header_bits(header, 0, 1) != 0;
  fast->bits = fast->raw ? 8 : header_bits(header, 1, 1) != 0 ? 2 : 4;
  fast->adjust = (int8_t)header_bits(header, 104, 8);
  for (uint32_t i = 0; i < FAST_PALETTE; ++i) {
    const uint32_t entry = header_bits(header, 112 + 9 * i, 9);
    const int16_t magnitude = (int16_t)(entry >> 1);
    fast->palette[i] = (entry & 1) != 0 ? (int16_t)-magnitude : magnitude;
  }
  fast->data = header + FAST_HEADER;
  fast->count = (uint64_t)(weights->bytes[0] - FAST_HEADER) * 8 / fast->bits;
}

typedef struct {
  npu_machine *machine;
  const npu_u85_weights *weights;
  npu_weight_stream *decoder;
  fast_stream fast;
  uint32_t stream;
  bool ended;  // only padding may follow
  int32_t channel_step;
  int32_t element_step;
  int16_t *target;
} reader;

static bool fail(const reader *r, const char *detail) {
  return npu_fail(r->machine, ETHOS_U_ERROR_WEIGHT_STREAM, NPU_SET_WEIGHT_BASE, detail,
                  (int64_t)r->stream);
}

static bool read_fast(fast_stream *fast, const reader *r, int16_t *lanes, int32_t count) {
  const uint64_t chunk = (uint64_t)fast->chunk;
  for (int32_t i = 0; i < count; ++i) {
    const uint64_t at = fast->at++;
    const uint64_t index = (at / chunk * r->weights->stream_count + r->stream) * chunk + at % chunk;
    if (index >= fast->count) {
      return false;
    }
    const uint64_t bit = index * fast->bits;
    const uint32_t value = fast->data[bit / 8] >> bit % 8 & ((1u << fast->bits) - 1);
    lanes[i] = fast->raw ? (int16_t)((int8_t)value - fast->adjust) : fast->palette[value];
  }
  return true;
}

// The next weights of the stream. Behind its end all are zeros, if `padding`.
static bool read_lanes(reader *r, int16_t *lanes, int32_t count, bool padding) {
  if (!r->ended) {
    const bool read = r->weights->fast ? read_fast(&r->fast, r, lanes, count)
                                       : npu_weight_stream_read(r->decoder, lanes, (uint32_t)count);
    if (read) {
      return true;
    }
    if (!padding) {
      return fail(r, r->weights->fast ? "ends too early" : r->decoder->error);
    }
    r->ended = true;
  }
  memset(lanes, 0, (size_t)count * sizeof(lanes[0]));
  return padding || fail(r, "ends too early");
}

static bool read_padding(reader *r, int32_t count) {
  int16_t lanes[64];
  while (count > 0) {
    const int32_t n = min32(count, 64);
    if (!read_lanes(r, lanes, n, true)) {
      return false;
    }
    for (int32_t i = 0; i < n; ++i) {
      if (lanes[i] != 0) {
        return fail(r, "has a weight other than 0 in its padding");
      }
    }
    count -= n;
  }
  return true;
}

// One element of the kernel, of an OFM and an IFM microblock: the groups of this stream.
static bool read_element(reader *r, int32_t o, int32_t i, int32_t ifm_ublock, int32_t y,
                         int32_t x) {
  const npu_u85_weights *w = r->weights;
  const int32_t lanes = w->depthwise ? 1 : w->sparse ? SPARSE_LANES : IFM_LANES;
  const int32_t step = OFM_LANES * w->stream_count;
  const int64_t element = ((int64_t)y * w->kernel_width + x) * w->ifm_depth;
  for (int32_t c = i; c < i + ifm_ublock; c += lanes) {
    for (int32_t a = o + (int32_t)r->stream * OFM_LANES; a < o + w->ublock_depth; a += step) {
      int16_t values[OFM_LANES * SPARSE_LANES];
      const bool padding = a >= w->ofm_depth || c >= w->ifm_depth;
      if (!read_lanes(r, values, OFM_LANES * lanes, padding)) {
        return false;
      }
      for (int32_t k = 0; k < OFM_LANES * lanes; ++k) {
        const int32_t channel = a + k / lanes;
        const int32_t from = c + k % lanes;
        if (channel < w->ofm_depth && from < w->ifm_depth) {
          r->target[(int64_t)channel * r->channel_step + (element + from) * r->element_step] =
              values[k];
        } else if (values[k] != 0) {
          return fail(r, "has a weight other than 0 in its padding");
        }
      }
    }
  }
  return true;
}

// Constants of the order.
typedef struct {
  int32_t ifm_block;
  int32_t ifm_ublock;
  int32_t rounding;  // elements of a kernel piece are padded to a multiple
  int32_t extra;     // elements of padding behind them, depthwise
  int32_t stride_y;
  int32_t stride_x;
} traversal;

// Depth of an IFM block: no register has it.
static traversal traversal_of(const npu_u85_weights *w) {
  const bool wide = w->ifm_bytes == 2;
  const bool small = w->log2_macs <= 8;
  traversal t = {.rounding = 1, .stride_y = 1, .stride_x = 1};
  t.ifm_block = w->sparse && w->ifm_bytes == 1 ? 128 : 64;
  if (w->part_kernel) {
    t.ifm_block = 16;
  } else if (small && w->ublock_depth == 16 && !w->sparse) {
    t.ifm_block = 32;
  }
  t.ifm_ublock = t.ifm_block;
  if (w->depthwise || w->part_kernel) {
    t.stride_y = w->stride_y;
    t.stride_x = w->stride_x;
    t.rounding = w->depthwise || wide || w->sparse ? 10 : 5;
  }
  if (w->depthwise) {
    t.ifm_ublock = 1;
    t.extra = !wide && small ? 0 : w->log2_macs <= 9 ? 2 : 6;
  } else if (w->part_kernel && wide && !w->sparse) {
    t.ifm_ublock = 8;
  }
  return t;
}

// A piece of the kernel of at most 8 x 8 from (y, x) on, of an OFM and an IFM microblock.
static bool read_piece(reader *r, const traversal *t, int32_t o, int32_t i, int32_t y, int32_t x,
                       int32_t height, int32_t width) {
  const npu_u85_weights *w = r->weights;
  int32_t left = round_up(height * width, t->rounding);
  const int32_t lanes = w->ublock_depth / w->stream_count;
  for (int32_t phase_y = 0; phase_y < t->stride_y; ++phase_y) {
    const int32_t rows = (height + t->stride_y - 1 - phase_y) / t->stride_y;
    for (int32_t phase_x = 0; phase_x < t->stride_x; ++phase_x) {
      const int32_t columns = (width + t->stride_x - 1 - phase_x) / t->stride_x;
      for (int32_t k = 0; k < rows * columns; ++k) {
        const int32_t row = k / columns;
        const int32_t column = row % 2 == 0 ? k % columns : columns - 1 - k % columns;
        if (!read_element(r, o, i, t->ifm_ublock, y + phase_y + row * t->stride_y,
                          x + phase_x + column * t->stride_x)) {
          return false;
        }
        --left;
        if (w->depthwise && left % t->rounding == 0 && !read_padding(r, t->extra * lanes)) {
          return false;
        }
      }
    }
  }
  return left == 0 || read_padding(r, (left + t->extra) * t->ifm_ublock * lanes);
}

// One OFM block and one IFM block.
static bool read_block(reader *r, const traversal *t, int32_t o, int32_t i) {
  const npu_u85_weights *w = r->weights;
  const int32_t channels = min32(w->block_depth, w->ofm_depth - o);
  const int32_t depth = min32(t->ifm_block, w->ifm_depth - i);
  const int32_t piece_y = SUB_KERNEL / w->dilation_y;
  const int32_t piece_x = SUB_KERNEL / w->dilation_x;
  for (int32_t x = 0; x < w->kernel_width; x += piece_x) {
    for (int32_t y = 0; y < w->kernel_height; y += piece_y) {
      for (int32_t c = 0; c < depth; c += t->ifm_ublock) {
        for (int32_t a = 0; a < channels; a += w->ublock_depth) {
          if (!read_piece(r, t, o + a, i + c, y, x, min32(piece_y, w->kernel_height - y),
                          min32(piece_x, w->kernel_width - x))) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

static bool read_stream(reader *r, const traversal *t) {
  const npu_u85_weights *w = r->weights;
  const int32_t blocks = (w->ifm_depth + t->ifm_block - 1) / t->ifm_block;
  bool down = false;
  for (int32_t o = 0; o < w->ofm_depth; o += w->block_depth, down = !down) {
    for (int32_t k = 0; k < blocks; ++k) {
      if (!read_block(r, t, o, (down ? blocks - 1 - k : k) * t->ifm_block)) {
        return false;
      }
    }
  }
  return true;
}

bool npu_u85_weights_read(npu_machine *machine, const npu_u85_weights *weights,
                          npu_weight_stream *decoder, int32_t channel_step, int32_t element_step,
                          int16_t *target) {
  const traversal t = traversal_of(weights);
  reader r = {
      .machine = machine,
      .weights = weights,
      .decoder = decoder,
      .channel_step = channel_step,
      .element_step = element_step,
      .target = target,
  };
  if (weights->fast) {
    open_fast(&r.fast, weights);
    r.fast.chunk = (int64_t)weights->ublock_depth * t.ifm_ublock *
                   (weights->part_kernel ? t.rounding : 1) / weights->stream_count;
  }
  for (uint32_t i = 0; i < weights->stream_count; ++i) {
    r.stream = i;
    r.fast.at = 0;
    r.ended = !weights->fast && weights->bytes[i] == 0;
    if (!weights->fast && !r.ended) {
      npu_weight_stream_open(decoder, weights->streams[i], weights->bytes[i]);
    }
    if (!read_stream(&r, &t)) {
      return false;
    }
  }
  return true;
}
