// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/cycles.h"

enum {
  UNIT = 16,         // fractions of a cycle
  KERNEL_LIMIT = 8,  // a window is worked through in pieces of at most 8x8
  BRICK_CHANNELS = 16,
  LUT_COST = UNIT,         // per element, of a lookup
  SCALE_READ_BYTES = 256,  // scale record bytes read in one latency
};

typedef struct {
  int32_t height;
  int32_t width;
  int32_t depth;
} extent;

// Cost of an element by npu_output_class in sixteenths of a cycle, by configuration.
static const uint8_t OUTPUT_COST[][NPU_OUTPUT_CLASSES] = {
    {32, 48, 48, 48, 64, 96, 16, 32}, {16, 24, 24, 24, 32, 48, 8, 16},
    {12, 20, 12, 12, 16, 24, 4, 8},   {10, 18, 8, 6, 8, 12, 2, 4},
    {10, 18, 8, 6, 8, 12, 2, 4},      {5, 9, 4, 3, 4, 6, 1, 2},
};

static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Saturates: unrealistic shapes must not overflow.
static int64_t multiply(int64_t a, int64_t b) {
  const int64_t limit = (int64_t)1 << 48;
  return a != 0 && b > limit / a ? limit : a * b;
}

static int64_t volume(extent e) { return (int64_t)e.height * e.width * e.depth; }

static int32_t round_up(int32_t value, int32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

static extent shape_of(const npu_feature_map *map) {
  return (extent){map->height, map->width, map->depth};
}

static extent clip(extent a, extent b) {
  return (extent){min32(a.height, b.height), min32(a.width, b.width), min32(a.depth, b.depth)};
}

static ethos_u_model_memory memory_of(const npu_machine *machine, uint32_t region) {
  const bool u55 = machine->config->product == NPU_U55;
  ethos_u_model_memory memory = {u55 ? 128 : 256, 32, 32};
  if (machine->options.memories != NULL) {
    memory = machine->options.memories[region];
  } else if (region == ETHOS_U_REGION_WEIGHTS) {
    memory = u55 ? (ethos_u_model_memory){16, 64, 128} : (ethos_u_model_memory){60, 500, 128};
  }
  memory.bandwidth = memory.bandwidth == 0 ? 1 : memory.bandwidth;
  memory.burst_bytes = memory.burst_bytes == 0 ? 1 : memory.burst_bytes;
  return memory;
}

// Cycles, without latency, to move `bytes` of a feature map block by block.
static int64_t transfer_cycles(const npu_machine *machine, const npu_feature_map *map, extent block,
                               bool is_read, int64_t bytes) {
  const ethos_u_model_memory memory = memory_of(machine, map->region);
  const int32_t element = map->element;
  const int32_t cores = machine->config->cores;
  const int32_t row = element * block.width * block.depth;
  int32_t burst = 0;
  if (map->bricks) {
    burst = map->width * element * BRICK_CHANNELS == block.depth ? row : element * 16 * block.width;
    burst = is_read ? burst : burst * cores;
  } else if (map->depth * element == block.depth && (is_read || block.depth <= BRICK_CHANNELS)) {
    burst = row;
  } else {
    burst = element * block.depth;
    if (!is_read) {
      burst = min32(burst, min32(64, 16 * element * cores));
    }
  }
  burst = min32(memory.burst_bytes, burst);
  return multiply(bytes, memory.burst_bytes) / (burst < 1 ? 1 : burst) * UNIT / memory.bandwidth;
}

// The part of the IFM needed by one OFM block.
static extent ifm_block(const npu_machine *machine, const npu_work *work, extent block) {
  extent needed = block;
  const npu_window *window = work->window;
  if (window != NULL) {
    const int32_t scale = window->upscale == NPU_UPSCALE_NONE ? 1 : 2;
    const int32_t kernel_height =
        min32((window->kernel_height - 1) * window->dilation_y + 1, KERNEL_LIMIT);
    const int32_t kernel_width =
        min32((window->kernel_width - 1) * window->dilation_x + 1, KERNEL_LIMIT);
    needed.height =
        round_up(((block.height - 1) * window->stride_y + kernel_height + scale - 1) / scale,
                 machine->config->ofm_ublock_height);
    needed.width =
        round_up(((block.width - 1) * window->stride_x + kernel_width + scale - 1) / scale,
                 machine->config->ofm_ublock_width);
  }
  if (work->kind == NPU_WORK_CONV || work->kind == NPU_WORK_CONV_PART ||
      work->kind == NPU_WORK_REDUCE_SUM) {
    const int32_t depth = work->ifm->element == 2 || work->kind == NPU_WORK_CONV_PART ? 16 : 32;
    needed.depth = round_up(min32(work->ifm->depth, depth), NPU_IFM_UBLOCK_DEPTH);
  }
  return needed;
}

// Cycles of the MAC units for one block.
static int64_t mac_cycles(const npu_machine *machine, const npu_work *work, extent block,
                          extent ublock, extent ifm) {
  const npu_window *window = work->window;
  const int32_t element = work->ifm->element;
  const int64_t across =
      ceil_div(block.height, ublock.height) * ceil_div(block.width, ublock.width);
  const int64_t deep = ceil_div(block.depth, ublock.depth);
  const int64_t weights = (int64_t)4 * ublock.depth;
  const bool smallest = machine->config->ofm_ublock_depth == 4;
  const bool wide = work->output->accumulator_limit > (int64_t)1 << 31;
  int32_t delay = smallest ? (wide ? 7 : 3) : 2;
  if (!smallest && wide && (machine->config->config & 15) <= 7) {
    delay = 3;
  }
  const int64_t passes =
      work->kind == NPU_WORK_CONV_PART ? ceil_div(ifm.depth, NPU_IFM_UBLOCK_DEPTH) : 1;
  int64_t total = 0;
  for (int32_t y = 0; y < window->kernel_height; y += KERNEL_LIMIT) {
    for (int32_t x = 0; x < window->kernel_width; x += KERNEL_LIMIT) {
      const int64_t elements = (int64_t)min32(window->kernel_height - y, KERNEL_LIMIT) *
                               min32(window->kernel_width - x, KERNEL_LIMIT);
      int64_t steps = elements;
      int64_t cycles = 0;
      switch (work->kind) {
        case NPU_WORK_POOL:
          steps = 1;
          cycles = max64(4, elements) * across * deep * (smallest ? 1 : element * 4);
          break;
        case NPU_WORK_DEPTHWISE:
          steps = ceil_div(elements, 4);
          cycles = max64(weights, 4 * across * element) * steps * deep;
          break;
        case NPU_WORK_CONV_PART:
          steps = ceil_div(elements, element == 2 ? 2 : 4);
          cycles = max64(weights, 4 * across) * steps * deep * passes;
          break;
        default:
          cycles = max64(weights, 4 * across) * steps * deep;
          break;
      }
      if (across == 1) {
        cycles += (deep == 1 ? delay * steps : delay * (steps - 1) * deep) * passes;
      }
      total += cycles;
    }
  }
  if (work->kind != NPU_WORK_DEPTHWISE && work->kind != NPU_WORK_POOL) {
    total = multiply(total, ceil_div(work->ifm->depth, ifm.depth));
  }
  return total / machine->config->cores;
}

// The longest busy time of any memory port for the full operation.
static int64_t port_cycles(const npu_machine *machine, const npu_work *work, extent block,
                           extent ifm) {
  const npu_feature_map *ofm = &work->output->map;
  int64_t busy[ETHOS_U_REGION_COUNT] = {0};
  const int64_t across = ceil_div(ofm->height, block.height) * ceil_div(ofm->width, block.width);
  int64_t blocks = across;
  int64_t read = 0;
  if (work->kind == NPU_WORK_ELEMENTWISE) {
    read = volume(shape_of(ofm));
  } else {
    if (work->kind != NPU_WORK_DEPTHWISE && work->kind != NPU_WORK_POOL) {
      blocks *= ceil_div(ofm->depth, block.depth);
    }
    const int64_t pieces = ceil_div(work->window->kernel_height, KERNEL_LIMIT) *
                           ceil_div(work->window->kernel_width, KERNEL_LIMIT);
    read = multiply(multiply((int64_t)ifm.height * ifm.width * work->ifm->depth, pieces), blocks);
  }
  busy[work->ifm->region] +=
      transfer_cycles(machine, work->ifm, ifm, true, read * work->ifm->element);
  if (work->ifm2 != NULL) {
    busy[work->ifm2->region] += transfer_cycles(machine, work->ifm2, ifm, true,
                                                volume(shape_of(work->ifm2)) * work->ifm2->element);
  }
  busy[ofm->region] +=
      transfer_cycles(machine, ofm, block, false, volume(shape_of(ofm)) * ofm->element);
  busy[work->weight_region] += multiply(across, (int64_t)work->weight_bytes) * UNIT /
                               memory_of(machine, work->weight_region).bandwidth;
  int64_t most = 0;
  for (int i = 0; i < ETHOS_U_REGION_COUNT; ++i) {
    most = max64(most, busy[i]);
  }
  return most;
}

void npu_estimate_kernel(npu_machine *machine, const npu_work *work) {
  const npu_config *config = machine->config;
  const npu_feature_map *ofm = &work->output->map;
  const extent block_register = {(int32_t)npu_register(machine, NPU_SET_OFM_BLK_HEIGHT_M1) + 1,
                                 (int32_t)npu_register(machine, NPU_SET_OFM_BLK_WIDTH_M1) + 1,
                                 (int32_t)npu_register(machine, NPU_SET_OFM_BLK_DEPTH_M1) + 1};
  const extent block = clip(block_register, shape_of(ofm));
  extent whole = shape_of(work->ifm);
  whole.depth = round_up(whole.depth, NPU_IFM_UBLOCK_DEPTH);
  const extent ifm = clip(ifm_block(machine, work, block_register), whole);
  const int64_t first =
      memory_of(machine, work->ifm->region).latency +
      transfer_cycles(machine, work->ifm, ifm, true, volume(ifm) * work->ifm->element);
  const int64_t last = memory_of(machine, ofm->region).latency +
                       transfer_cycles(machine, ofm, block, false, volume(block) * ofm->element);
  int64_t cost = OUTPUT_COST[config - npu_configs][work->output_class];
  if (work->output->lut != NULL) {
    cost = max64(cost, LUT_COST / config->cores);
  }
  int64_t total = 0;
  if (work->kind == NPU_WORK_ELEMENTWISE) {
    const int64_t elements = (int64_t)ofm->height * ofm->width *
                             (ofm->bricks ? round_up(ofm->depth, BRICK_CHANNELS) : ofm->depth);
    const int64_t issue =
        (multiply(max64(first, last), elements) / volume(block_register) + cost * elements / UNIT) /
        4;
    total = max64(issue, ceil_div(cost * elements, UNIT));
  } else {
    extent ublock = {config->ofm_ublock_height, config->ofm_ublock_width, config->ofm_ublock_depth};
    if (ublock.height == 2 && (work->kind == NPU_WORK_CONV || work->kind == NPU_WORK_CONV_PART) &&
        ofm->height == 1 && ofm->width % 2 == 0 && work->window->kernel_height == 1) {
      ublock.height = 1;
      ublock.width = 4;
    }
    const int64_t in_block = ceil_div(block.height, ublock.height) *
                             ceil_div(block.width, ublock.width) *
                             ceil_div(block.depth, ublock.depth);
    const int64_t in_ofm = ceil_div(ofm->height, ublock.height) *
                           ceil_div(ofm->width, ublock.width) * ceil_div(ofm->depth, ublock.depth);
    const int64_t mac = mac_cycles(machine, work, block, ublock, ifm);
    const int64_t scales = work->weight_bytes == 0
                               ? 0
                               : (int64_t)NPU_SCALE_RECORD_BYTES * block.depth *
                                     memory_of(machine, work->weight_region).latency /
                                     SCALE_READ_BYTES;
    const int64_t output = max64(ceil_div(cost * volume(block), UNIT), scales);
    const int64_t memory = in_ofm > in_block ? (last > first ? last - first : first - last) : 0;
    const int64_t issue = (memory + mac + output) / 4;
    const int64_t mac_time = max64(mac, issue);
    const int64_t output_time = max64(output, issue);
    total = multiply(max64(mac_time, output_time), in_ofm) / in_block +
            (mac_time > output_time ? output_time : mac_time) + first + last;
  }
  total = max64(total, port_cycles(machine, work, block, ifm));
  machine->operation.counts.cycles = (uint64_t)total;
}

void npu_estimate_transfer(npu_machine *machine, uint32_t from, uint32_t to, bool to_lut,
                           uint64_t bytes) {
  const ethos_u_model_memory source = memory_of(machine, from);
  const ethos_u_model_memory target =
      to_lut ? (ethos_u_model_memory){UNIT, 0, 1} : memory_of(machine, to);
  const uint64_t read = bytes * UNIT / source.bandwidth + source.latency;
  const uint64_t write = bytes * UNIT / target.bandwidth + target.latency;
  machine->operation.counts.cycles = read > write ? read : write;
}
