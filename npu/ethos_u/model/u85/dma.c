// SPDX-License-Identifier: Apache-2.0
// OP_DMA_START of U85: transfers in one to three dimensions, between regions or to the LUT memory,
// with rows of either side by a list of indices.
#include <string.h>

#include "npu/ethos_u/model/u85/kernel.h"

enum { FROM_INDEX = 1, TO_INDEX = 2, INDEX_BYTES = 4 };

// One side of a transfer.
typedef struct {
  uint32_t region;
  bool is_internal;
  bool is_indexed;
  int64_t base;
  int64_t stride0;
  int64_t stride1;
  uint8_t *data;  // of the region, null while inspecting
} side;

typedef struct {
  side from;
  side to;
  int64_t length;  // bytes of a row
  int64_t rows;
  int64_t planes;
  bool has_list;
  uint32_t list_region;
  int64_t list;       // address
  int64_t list_skip;  // bytes, behind each plane's indices
  uint32_t list_max;
  const uint8_t *list_data;
} transfer;

static side decode_side(npu_machine *machine, bool source, uint32_t mode) {
  const uint32_t region =
      npu_register(machine, source ? NPU_SET_DMA0_SRC_REGION : NPU_SET_DMA0_DST_REGION);
  side s = {
      .region = region & 7,
      .is_internal = (region >> 8 & 1) != 0,
      .is_indexed = (region >> 11 & 1) != 0,
      .base = (int64_t)npu_register_address(machine, source ? NPU_SET_DMA0_SRC : NPU_SET_DMA0_DST),
  };
  if (mode > 0 || s.is_indexed) {
    s.stride0 =
        npu_register_stride(machine, source ? NPU_SET_DMA0_SRC_STRIDE0 : NPU_SET_DMA0_DST_STRIDE0);
  }
  if (mode == 2) {
    s.stride1 =
        npu_register_stride(machine, source ? NPU_SET_DMA0_SRC_STRIDE1 : NPU_SET_DMA0_DST_STRIDE1);
  }
  return s;
}

static int64_t least(int64_t value) { return value < 0 ? value : 0; }
static int64_t most(int64_t value) { return value > 0 ? value : 0; }

static bool access_side(npu_machine *machine, const transfer *t, bool source, side *s) {
  const uint32_t key = source ? NPU_SET_DMA0_SRC_REGION : NPU_SET_DMA0_DST_REGION;
  const int64_t limit = (int64_t)1 << 32;  // bytes of a region
  if (s->is_indexed && t->list_max > 0 &&
      (s->stride0 > limit / t->list_max || s->stride0 < -limit / t->list_max)) {
    return npu_fail(machine, ETHOS_U_ERROR_ADDRESS, NPU_SET_DMA0_IDX_MAX, "idx_max", t->list_max);
  }
  const int64_t last0 = (s->is_indexed ? (int64_t)t->list_max : t->rows - 1) * s->stride0;
  const int64_t last1 = (t->planes - 1) * s->stride1;
  const int64_t begin = s->base + least(last0) + least(last1);
  const int64_t end = s->base + most(last0) + most(last1) + t->length;
  if (!s->is_internal) {
    s->data = npu_access_region(machine, key, s->region, !source, begin, end);
    npu_count_bytes(machine, s->region, !source,
                    (uint64_t)t->length * (uint64_t)t->rows * (uint64_t)t->planes);
    return npu_ok(machine);
  }
  if (source || s->is_indexed || begin < 0 || end > NPU_LUT_BYTES ||
      begin % NPU_LUT_SLOT_BYTES != 0 || end % NPU_LUT_SLOT_BYTES != 0 ||
      t->rows * t->planes != 1) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, key,
                    "internal transfer, other than to whole slots of the LUT memory", begin);
  }
  const uint32_t slots = ((1u << (end - begin) / NPU_LUT_SLOT_BYTES) - 1)
                         << begin / NPU_LUT_SLOT_BYTES;
  npu_access_lut(machine, true, (uint32_t)begin, (uint32_t)end);
  machine->lut_written = (uint8_t)(machine->lut_written | slots);
  s->data = machine->regions == NULL ? NULL : machine->lut;
  return npu_ok(machine);
}

static bool decode(npu_machine *machine, transfer *t) {
  const uint32_t mode = npu_register(machine, NPU_SET_DMA0_SRC_REGION) >> 9 & 3;
  if (mode > 2) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_DMA0_SRC_REGION, "stride_mode", mode);
  }
  t->from = decode_side(machine, true, mode);
  t->to = decode_side(machine, false, mode);
  t->has_list = t->from.is_indexed || t->to.is_indexed;
  t->length = (int64_t)npu_register_address(machine, NPU_SET_DMA0_LEN);
  t->rows = mode > 0 || t->has_list ? (int64_t)npu_register(machine, NPU_SET_DMA0_SIZE0) : 1;
  t->planes = mode == 2 ? (int64_t)npu_register(machine, NPU_SET_DMA0_SIZE1) : 1;
  if (!npu_ok(machine)) {
    return false;
  }
  if (t->length < 1 || t->rows < 1 || t->planes < 1 || t->length > INT32_MAX) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_DMA0_LEN, "bytes, or rows, of a transfer",
                    t->length);
  }
  if (t->has_list) {
    if (t->from.is_indexed && t->to.is_indexed) {
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_DMA0_DST_REGION,
                      "idx_mode, of both sides", 1);
    }
    t->list_region = npu_register(machine, NPU_SET_DMA0_IDX_REGION) & 7;
    t->list = (int64_t)npu_register_address(machine, NPU_SET_DMA0_IDX);
    t->list_max = npu_register(machine, NPU_SET_DMA0_IDX_MAX);
    t->list_skip = mode == 2 ? npu_register_stride(machine, NPU_SET_DMA0_IDX_SKIP1) : 0;
    const int64_t plane = t->rows * INDEX_BYTES + t->list_skip;
    const int64_t last = (t->planes - 1) * plane;
    t->list_data =
        npu_access_region(machine, NPU_SET_DMA0_IDX_REGION, t->list_region, false,
                          t->list + least(last), t->list + most(last) + t->rows * INDEX_BYTES);
    npu_count_bytes(machine, t->list_region, false, (uint64_t)(t->rows * t->planes) * INDEX_BYTES);
  }
  return npu_ok(machine) && access_side(machine, t, true, &t->from) &&
         access_side(machine, t, false, &t->to);
}

bool npu_u85_run_dma(npu_machine *machine) {
  transfer t = {0};
  if (!decode(machine, &t)) {
    return false;
  }
  if (t.from.data == NULL || t.to.data == NULL || (t.has_list && t.list_data == NULL)) {
    return true;  // inspecting
  }
  int64_t at = t.list;
  for (int64_t plane = 0; plane < t.planes; ++plane, at += t.list_skip) {
    for (int64_t row = 0; row < t.rows; ++row) {
      int64_t from = row;
      int64_t to = row;
      if (t.has_list) {
        int32_t index;
        memcpy(&index, t.list_data + at, sizeof(index));
        at += INDEX_BYTES;
        if (index < 0 || (uint32_t)index > t.list_max) {
          return npu_fail(machine, ETHOS_U_ERROR_ADDRESS, NPU_SET_DMA0_IDX, "index", index);
        }
        *(t.from.is_indexed ? &from : &to) = index;
      }
      memmove(t.to.data + t.to.base + plane * t.to.stride1 + to * t.to.stride0,
              t.from.data + t.from.base + plane * t.from.stride1 + from * t.from.stride0,
              (size_t)t.length);
    }
  }
  return true;
}
