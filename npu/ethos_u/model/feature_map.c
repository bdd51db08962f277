// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/feature_map.h"

#include <stddef.h>
#include <string.h>

typedef struct {
  uint16_t base0;  // base1 to base3 follow
  uint16_t stride_x;
  uint16_t stride_y;
  uint16_t stride_c;
  uint16_t width0;
  uint16_t height0;
  uint16_t height1;
  uint16_t region;
  uint16_t precision;
  uint16_t zero_point;
} map_registers;

static const map_registers REGISTERS[] = {
    [NPU_IFM] = {NPU_SET_IFM_BASE0, NPU_SET_IFM_STRIDE_X, NPU_SET_IFM_STRIDE_Y,
                 NPU_SET_IFM_STRIDE_C, NPU_SET_IFM_WIDTH0_M1, NPU_SET_IFM_HEIGHT0_M1,
                 NPU_SET_IFM_HEIGHT1_M1, NPU_SET_IFM_REGION, NPU_SET_IFM_PRECISION,
                 NPU_SET_IFM_ZERO_POINT},
    [NPU_IFM2] = {NPU_SET_IFM2_BASE0, NPU_SET_IFM2_STRIDE_X, NPU_SET_IFM2_STRIDE_Y,
                  NPU_SET_IFM2_STRIDE_C, NPU_SET_IFM2_WIDTH0_M1, NPU_SET_IFM2_HEIGHT0_M1,
                  NPU_SET_IFM2_HEIGHT1_M1, NPU_SET_IFM2_REGION, NPU_SET_IFM2_PRECISION,
                  NPU_SET_IFM2_ZERO_POINT},
    [NPU_OFM] = {NPU_SET_OFM_BASE0, NPU_SET_OFM_STRIDE_X, NPU_SET_OFM_STRIDE_Y,
                 NPU_SET_OFM_STRIDE_C, NPU_SET_OFM_WIDTH0_M1, NPU_SET_OFM_HEIGHT0_M1,
                 NPU_SET_OFM_HEIGHT1_M1, NPU_SET_OFM_REGION, NPU_SET_OFM_PRECISION,
                 NPU_SET_OFM_ZERO_POINT},
};

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

// Declares the access to one tile of height x width.
static void access_tile(npu_machine *machine, const map_registers *registers, bool write,
                        npu_feature_map *map, int tile, int32_t height, int32_t width) {
  if (height <= 0 || width <= 0 || !npu_ok(machine)) {
    return;
  }
  const int64_t last_y = (height - 1) * map->stride_y;
  const int64_t last_x = (width - 1) * map->stride_x;
  const int64_t last_c = (map->depth - 1) * map->stride_c;
  int64_t first_channel = min64(0, last_c);
  int64_t end_channel = max64(0, last_c) + map->element;
  if (map->bricks) {
    const int64_t last = (map->depth - 1) / NPU_BRICK;
    const int64_t rest = (map->depth - last * NPU_BRICK) * map->element;
    first_channel = min64(0, last * map->stride_c);
    end_channel = last * map->stride_c + rest;
    if (last > 0) {
      const int64_t brick = (int64_t)NPU_BRICK * map->element;
      end_channel = max64(end_channel, max64(brick, (last - 1) * map->stride_c + brick));
    }
  }
  const int64_t base = map->base[tile];
  const int64_t begin = base + min64(0, last_y) + min64(0, last_x) + first_channel;
  const int64_t end = base + max64(0, last_y) + max64(0, last_x) + end_channel;
  const int64_t bytes = (int64_t)height * width * map->depth * map->element;
  if (bytes > end - begin) {
    (void)npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, registers->stride_x,
                   "strides, by which elements overlap", map->stride_x);
    return;
  }
  map->data = npu_access_region(machine, registers->region, map->region, write, begin, end);
  npu_count_bytes(machine, map->region, write, (uint64_t)bytes);
}

bool npu_feature_map_decode(npu_machine *machine, npu_feature_map_role role, int32_t height,
                            int32_t width, int32_t depth, npu_feature_map *map) {
  const map_registers *registers = &REGISTERS[role];
  const uint32_t precision = npu_register(machine, registers->precision);
  const uint32_t log2_bytes = role == NPU_OFM ? precision >> 1 & 3 : precision >> 2 & 3;
  const uint32_t format = precision >> 6 & 3;
  const uint32_t zero_point = npu_register(machine, registers->zero_point);
  const bool u85 = machine->config->product == NPU_U85;
  map->data = NULL;
  map->height = height;
  map->width = width;
  map->depth = depth;
  map->is_signed = (precision & 1) != 0;
  map->element = (uint8_t)(1u << log2_bytes);
  map->zero_point = map->is_signed || map->element > 2 ? (int16_t)zero_point : (int32_t)zero_point;
  map->bricks = format == 1;
  map->region = (uint8_t)(npu_register(machine, registers->region) & 7);
  map->width0 = (int32_t)npu_register(machine, registers->width0) + 1;
  map->height0 = (int32_t)npu_register(machine, registers->height0) + 1;
  map->height1 = (int32_t)npu_register(machine, registers->height1) + 1;
  map->stride_y = npu_register_stride(machine, registers->stride_y);
  map->stride_x = map->bricks && u85 ? (int64_t)NPU_BRICK * map->element
                                     : npu_register_stride(machine, registers->stride_x);
  map->stride_c =
      map->bricks || u85 ? npu_register_stride(machine, registers->stride_c) : map->element;
  for (uint32_t tile = 0; tile < 4; ++tile) {
    map->base[tile] = (int64_t)npu_register_address(machine, registers->base0 + tile);
    if (map->bricks && map->base[tile] % NPU_BRICK != 0) {
      return npu_fail(machine, ETHOS_U_ERROR_FIELD, registers->base0 + tile,
                      "address of bricks, not a multiple of 16", map->base[tile]);
    }
  }
  if (log2_bytes > 2 && !u85) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, registers->precision,
                    "activation_precision", log2_bytes);
  }
  if (format > 1) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, registers->precision, "activation_format",
                    format);
  }
  if (map->element == 4 && !map->is_signed) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, registers->precision,
                    "activation_type, unsigned 32-bit", precision);
  }
  const bool write = role == NPU_OFM;
  if (role != NPU_IFM2) {
    uint32_t *shape = write ? machine->operation.ofm_shape : machine->operation.ifm_shape;
    shape[0] = (uint32_t)height;
    shape[1] = (uint32_t)width;
    shape[2] = (uint32_t)depth;
  }
  const int32_t left = width < map->width0 ? width : map->width0;
  const int32_t top_left = height < map->height0 ? height : map->height0;
  const int32_t top_right = height < map->height1 ? height : map->height1;
  access_tile(machine, registers, write, map, 0, top_left, left);
  access_tile(machine, registers, write, map, 1, top_right, width - left);
  access_tile(machine, registers, write, map, 2, height - top_left, left);
  access_tile(machine, registers, write, map, 3, height - top_right, width - left);
  return npu_ok(machine);
}

// Channel 0 of (y, x). *columns is cut to those in the same tile.
static uint8_t *pixel(const npu_feature_map *map, int32_t y, int32_t x, int32_t *columns) {
  const bool right = x >= map->width0;
  const int32_t top = right ? map->height1 : map->height0;
  const bool bottom = y >= top;
  if (!right && *columns > map->width0 - x) {
    *columns = map->width0 - x;
  }
  const int64_t offset = map->base[(bottom ? 2 : 0) + (right ? 1 : 0)] +
                         (bottom ? y - top : y) * map->stride_y +
                         (right ? x - map->width0 : x) * map->stride_x;
  return map->data + offset;
}

// Walks over columns and channels of a row in runs of equally spaced elements.
typedef struct {
  const npu_feature_map *map;
  int32_t y;
  int32_t first_x;
  int32_t x;
  int32_t end_x;
  int32_t first_c;
  int32_t c;
  int32_t end_c;
  bool by_column;  // no run goes over columns
  // The current run, and where its first element is, counted from the first of all.
  uint8_t *data;
  int64_t step;  // bytes
  int32_t count;
  int32_t column;
  int32_t channel;
} element_runs;

static element_runs start_runs(const npu_feature_map *map, int32_t y, int32_t x, int32_t nx,
                               int32_t c, int32_t nc) {
  return (element_runs){.map = map,
                        .y = y,
                        .first_x = x,
                        .x = x,
                        .end_x = x + nx,
                        .first_c = c,
                        .c = c,
                        .end_c = c + nc};
}

static bool next_run(element_runs *runs) {
  const npu_feature_map *map = runs->map;
  if (runs->x == runs->end_x) {
    return false;
  }
  int32_t columns = runs->end_x - runs->x;
  uint8_t *first = pixel(map, runs->y, runs->x, &columns);
  runs->column = runs->x - runs->first_x;
  runs->channel = runs->c - runs->first_c;
  runs->step = map->element;
  if (map->bricks) {
    const int32_t lane = runs->c % NPU_BRICK;
    const int32_t rest = runs->end_c - runs->c;
    runs->count = rest < NPU_BRICK - lane ? rest : NPU_BRICK - lane;
    runs->data = first + runs->c / NPU_BRICK * map->stride_c + lane * map->element;
    runs->c += runs->count;
    if (runs->c == runs->end_c) {
      runs->c = runs->first_c;
      ++runs->x;
    }
    return true;
  }
  const int32_t channels = runs->end_c - runs->c;
  const bool dense = map->stride_x == (int64_t)channels * map->element;
  columns = runs->by_column || (channels > 1 && !dense) ? 1 : columns;
  if (channels == 1) {
    runs->step = map->stride_x;
  }
  runs->count = columns * channels;
  runs->data = first + (int64_t)runs->c * map->element;
  runs->x += columns;
  return true;
}

// Elements of `source` at `step` bytes distance, widened. The dense case is a loop of its own so
// that compilers can vectorize it.
#define LOAD_ELEMENTS(type, target)                                      \
  do {                                                                   \
    if (step == (int64_t)sizeof(type)) {                                 \
      for (int32_t i = 0; i < n; ++i) {                                  \
        type value;                                                      \
        memcpy(&value, source + (size_t)i * sizeof(type), sizeof(type)); \
        out[i] = (target)(value - offset);                               \
      }                                                                  \
    } else {                                                             \
      for (int32_t i = 0; i < n; ++i) {                                  \
        type value;                                                      \
        memcpy(&value, source + i * step, sizeof(type));                 \
        out[i] = (target)(value - offset);                               \
      }                                                                  \
    }                                                                    \
  } while (0)

static void load_elements(const npu_feature_map *map, const uint8_t *source, int64_t step,
                          int32_t n, int32_t *out) {
  enum { offset = 0 };
  switch (map->element) {
    case 1:
      if (map->is_signed) {
        LOAD_ELEMENTS(int8_t, int32_t);
      } else {
        LOAD_ELEMENTS(uint8_t, int32_t);
      }
      break;
    case 2:
      if (map->is_signed) {
        LOAD_ELEMENTS(int16_t, int32_t);
      } else {
        LOAD_ELEMENTS(uint16_t, int32_t);
      }
      break;
    default:
      LOAD_ELEMENTS(int32_t, int32_t);
      break;
  }
}

void npu_load(const npu_feature_map *map, int32_t y, int32_t x, int32_t nx, int32_t c, int32_t nc,
              int32_t *out) {
  element_runs runs = start_runs(map, y, x, nx, c, nc);
  while (next_run(&runs)) {
    load_elements(map, runs.data, runs.step, runs.count, out);
    out += runs.count;
  }
}

static void load_centred(const npu_feature_map *map, const uint8_t *source, int64_t step, int32_t n,
                         int16_t *out) {
  const int32_t offset = map->zero_point;
  if (map->element == 2) {
    LOAD_ELEMENTS(int16_t, int16_t);
  } else if (map->is_signed) {
    LOAD_ELEMENTS(int8_t, int16_t);
  } else {
    LOAD_ELEMENTS(uint8_t, int16_t);
  }
}

void npu_load_centred(const npu_feature_map *map, int32_t y, int32_t x, int32_t nx, int32_t c,
                      int32_t nc, int32_t step, int16_t *out) {
  element_runs runs = start_runs(map, y, x, nx, c, nc);
  runs.by_column = step != nc;
  while (next_run(&runs)) {
    load_centred(map, runs.data, runs.step, runs.count,
                 out + (ptrdiff_t)runs.column * step + runs.channel);
  }
}

#define STORE_ELEMENTS(type)                         \
  for (int32_t i = 0; i < n; ++i) {                  \
    const type value = (type)values[i];              \
    memcpy(target + i * step, &value, sizeof(type)); \
  }

static void store_elements(const npu_feature_map *map, uint8_t *target, int64_t step, int32_t n,
                           const int32_t *values) {
  switch (map->element) {
    case 1:
      STORE_ELEMENTS(uint8_t);
      break;
    case 2:
      STORE_ELEMENTS(uint16_t);
      break;
    default:
      STORE_ELEMENTS(int32_t);
      break;
  }
}

void npu_store(const npu_feature_map *map, int32_t y, int32_t x, int32_t nx, int32_t c, int32_t nc,
               const int32_t *values) {
  element_runs runs = start_runs(map, y, x, nx, c, nc);
  while (next_run(&runs)) {
    store_elements(map, runs.data, runs.step, runs.count, values);
    values += runs.count;
  }
}
