// SPDX-License-Identifier: Apache-2.0
// Command streams written by hand, for tests. Every stream is for ethos-u55-128 unless its config
// is changed.
#ifndef FIRMWARE_ETHOS_U_TESTING_STREAM_BUILDER_H_
#define FIRMWARE_ETHOS_U_TESTING_STREAM_BUILDER_H_

#include <stdint.h>

#include "npu/ethos_u/payload.h"

enum { STREAM_WORDS = 256 };

typedef struct {
  uint32_t words[STREAM_WORDS];
  ethos_u_stream stream;
} stream_builder;

void stream_begin(stream_builder *builder);

// Appends a command. The payload word counts only for commands with one.
void stream_add(stream_builder *builder, uint32_t key, uint32_t parameter, uint32_t payload);

// Changes the parameter and payload of the first command `key`.
void stream_change(stream_builder *builder, uint32_t key, uint32_t parameter, uint32_t payload);

// Removes the first command `key`.
void stream_remove(stream_builder *builder, uint32_t key);

// Registers and OP_POOL of a copy: 2x3 pixels of 4 int8 channels, NHWC, from offset 16 of region 1
// to offset 64 of region 1.
void stream_add_copy(stream_builder *builder);

// Registers and OP_DMA_START: `length` bytes from offset 0 of region 0 to offset `target` of region
// 1, or, if `to_lut`, of internal memory.
void stream_add_transfer(stream_builder *builder, uint32_t target, uint32_t length, int to_lut);

#endif  // FIRMWARE_ETHOS_U_TESTING_STREAM_BUILDER_H_
