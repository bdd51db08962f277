// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/testing/stream_builder.h"

#include <string.h>

#include "npu/ethos_u/model/commands.h"

static int has_payload(uint32_t key) { return key >> 14 == 1; }

void stream_begin(stream_builder *builder) {
  memset(builder, 0, sizeof(*builder));
  builder->stream = (ethos_u_stream){builder->words, 0, 0x00001807, 0x10066001};
}

void stream_add(stream_builder *builder, uint32_t key, uint32_t parameter, uint32_t payload) {
  builder->words[builder->stream.count++] = key | parameter << 16;
  if (has_payload(key)) {
    builder->words[builder->stream.count++] = payload;
  }
}

static uint32_t find(const stream_builder *builder, uint32_t key) {
  uint32_t at = 0;
  while ((builder->words[at] & 0xFFFF) != key) {
    at += has_payload(builder->words[at] & 0xFFFF) ? 2 : 1;
  }
  return at;
}

void stream_change(stream_builder *builder, uint32_t key, uint32_t parameter, uint32_t payload) {
  const uint32_t at = find(builder, key);
  builder->words[at] = key | parameter << 16;
  if (has_payload(key)) {
    builder->words[at + 1] = payload;
  }
}

void stream_remove(stream_builder *builder, uint32_t key) {
  const uint32_t at = find(builder, key);
  const uint32_t size = has_payload(key) ? 2 : 1;
  builder->stream.count -= size;
  memmove(&builder->words[at], &builder->words[at + size],
          (builder->stream.count - at) * sizeof(builder->words[0]));
}

void stream_add_copy(stream_builder *builder) {
  static const uint32_t commands[][3] = {
      {NPU_SET_IFM_REGION, 1, 0},        {NPU_SET_IFM_BASE0, 0, 16},
      {NPU_SET_IFM_BASE1, 0, 0},         {NPU_SET_IFM_BASE2, 0, 0},
      {NPU_SET_IFM_BASE3, 0, 0},         {NPU_SET_IFM_HEIGHT0_M1, 1, 0},
      {NPU_SET_IFM_HEIGHT1_M1, 1, 0},    {NPU_SET_IFM_WIDTH0_M1, 2, 0},
      {NPU_SET_IFM_DEPTH_M1, 3, 0},      {NPU_SET_IFM_STRIDE_Y, 0, 12},
      {NPU_SET_IFM_STRIDE_X, 0, 4},      {NPU_SET_IFM_STRIDE_C, 0, 1},
      {NPU_SET_IFM_ZERO_POINT, 0, 0},    {NPU_SET_IFM_PRECISION, 1, 0},
      {NPU_SET_IFM_UPSCALE, 0, 0},       {NPU_SET_IFM_PAD_TOP, 0, 0},
      {NPU_SET_IFM_PAD_LEFT, 0, 0},      {NPU_SET_IFM_PAD_BOTTOM, 0, 0},
      {NPU_SET_IFM_PAD_RIGHT, 0, 0},     {NPU_SET_OFM_REGION, 1, 0},
      {NPU_SET_OFM_BASE0, 0, 64},        {NPU_SET_OFM_BASE1, 0, 0},
      {NPU_SET_OFM_BASE2, 0, 0},         {NPU_SET_OFM_BASE3, 0, 0},
      {NPU_SET_OFM_HEIGHT_M1, 1, 0},     {NPU_SET_OFM_WIDTH_M1, 2, 0},
      {NPU_SET_OFM_HEIGHT0_M1, 1, 0},    {NPU_SET_OFM_HEIGHT1_M1, 1, 0},
      {NPU_SET_OFM_WIDTH0_M1, 2, 0},     {NPU_SET_OFM_DEPTH_M1, 3, 0},
      {NPU_SET_OFM_STRIDE_Y, 0, 12},     {NPU_SET_OFM_STRIDE_X, 0, 4},
      {NPU_SET_OFM_STRIDE_C, 0, 1},      {NPU_SET_OFM_ZERO_POINT, 0, 0},
      {NPU_SET_OFM_PRECISION, 0x101, 0}, {NPU_SET_KERNEL_HEIGHT_M1, 0, 0},
      {NPU_SET_KERNEL_WIDTH_M1, 0, 0},   {NPU_SET_KERNEL_STRIDE, 0, 0},
      {NPU_SET_ACTIVATION, 0, 0},        {NPU_SET_ACTIVATION_MIN, 0xFF80, 0},
      {NPU_SET_ACTIVATION_MAX, 127, 0},  {NPU_SET_OFM_SCALE, 0, 1},
      {NPU_SET_OFM_BLK_HEIGHT_M1, 1, 0}, {NPU_SET_OFM_BLK_WIDTH_M1, 3, 0},
      {NPU_SET_OFM_BLK_DEPTH_M1, 7, 0},  {NPU_SET_IFM_IB_END, 4, 0},
      {NPU_SET_AB_START, 14, 0},         {NPU_SET_ACC_FORMAT, 0, 0},
      {NPU_SET_BLOCKDEP, 0, 0},          {NPU_OP_POOL, 1, 0},
  };
  for (uint32_t i = 0; i < sizeof(commands) / sizeof(commands[0]); ++i) {
    stream_add(builder, commands[i][0], commands[i][1], commands[i][2]);
  }
}

void stream_add_transfer(stream_builder *builder, uint32_t target, uint32_t length, int to_lut) {
  stream_add(builder, NPU_SET_DMA0_SRC_REGION, 0, 0);
  stream_add(builder, NPU_SET_DMA0_SRC, 0, 0);
  stream_add(builder, NPU_SET_DMA0_DST_REGION, to_lut ? 0x103 : 1, 0);
  stream_add(builder, NPU_SET_DMA0_DST, 0, target);
  stream_add(builder, NPU_SET_DMA0_LEN, 0, length);
  stream_add(builder, NPU_OP_DMA_START, 0, 0);
}
