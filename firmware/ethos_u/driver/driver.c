// SPDX-License-Identifier: Apache-2.0
#include "firmware/ethos_u/driver/driver.h"

#include <string.h>

#include "firmware/ethos_u/driver/pmu.h"

enum {
  PRODUCT_U55 = 0,
  PRODUCT_U65 = 1,
  PRODUCT_U85 = 2,
  FAULTS = ETHOS_U_STATUS_BUS_ERROR | ETHOS_U_STATUS_PARSE_ERROR | ETHOS_U_STATUS_WATCHDOG |
      ETHOS_U_STATUS_ECC | ETHOS_U_STATUS_BRANCH,
  // AXI counters, as REGIONCFG and QCONFIG name them.
  PORT0 = 0,
  PORT1 = 2,
  PORT1_CONSTANTS = 3,
  USUAL_CACHE_LINE = 32,  // bytes, of the Cortex-M with a data cache
};

static uint32_t read(const ethos_u_driver *driver, uint32_t offset) {
  return ethos_u_register_read(driver->board->base, offset);
}

static void write(const ethos_u_driver *driver, uint32_t offset, uint32_t value) {
  ethos_u_register_write(driver->board->base, offset, value);
}

static void write_address(const ethos_u_driver *driver, uint32_t offset, const void *data) {
  const ethos_u_board *board = driver->board;
  const uint64_t address =
      board->bus_address == NULL ? (uint64_t)(uintptr_t)data : board->bus_address(data);
  write(driver, offset, (uint32_t)address);
  write(driver, offset + 4, (uint32_t)(address >> 32));
}

static ethos_u_stopwatch start_watch(const ethos_u_board *board) {
  return (ethos_u_stopwatch){board, board->ticks == NULL ? 0 : board->ticks(), 0};
}

static bool has_passed(ethos_u_stopwatch *watch, uint32_t ticks) {
  const ethos_u_board *board = watch->board;
  const uint32_t now = board->ticks == NULL ? ++watch->polls : board->ticks();
  return now - watch->start >= ticks;
}

static bool is_u85(const ethos_u_driver *driver) {
  return driver->config >> ETHOS_U_CONFIG_PRODUCT == PRODUCT_U85;
}

// Accepts only an NPU this driver supports. Anything else (an empty bus reads as zeros) is none.
static bool identify(ethos_u_driver *driver) {
  driver->id = read(driver, ETHOS_U_REG_ID);
  driver->config = read(driver, ETHOS_U_REG_CONFIG);
  const uint32_t product = driver->config >> ETHOS_U_CONFIG_PRODUCT;
  const uint32_t macs = driver->config & ETHOS_U_CONFIG_MACS;
  const bool u55 = product == PRODUCT_U55 && macs >= 5 && macs <= 8;
  const bool u65 = product == PRODUCT_U65 && (macs == 8 || macs == 9);
  const bool u85 = product == PRODUCT_U85 && macs >= 7 && macs <= 11;
  return driver->id >> ETHOS_U_ID_ARCH_MAJOR == (u85 ? 2u : 1u) && (u55 || u65 || u85);
}

// The address that offsets of counters are from.
static uintptr_t counters_of(const ethos_u_driver *driver) {
  return driver->board->base + (is_u85(driver) ? ETHOS_U_U85_COUNTERS : 0);
}

// The stream must be compiled for this kind of NPU and for no later architecture. It may need a
// custom DMA only if there is one. The rest of both registers may differ: patch and product
// revisions, SHRAM (it goes with the MACs), functional safety. Streams for U85 are for its AXI
// ports.
static bool is_for(const ethos_u_driver *driver, const ethos_u_stream *stream) {
  const uint32_t kind = (uint32_t)0xF << ETHOS_U_CONFIG_PRODUCT | ETHOS_U_CONFIG_STREAM_VERSION |
                        ETHOS_U_CONFIG_MACS |
                        (is_u85(driver) ? (uint32_t)ETHOS_U_CONFIG_AXI_PORTS : 0);
  const uint32_t missing = stream->config & ~driver->config;
  return ((stream->config ^ driver->config) & kind) == 0 &&
         (missing & ETHOS_U_CONFIG_CUSTOM_DMA) == 0 &&
         stream->id >> ETHOS_U_ID_ARCH_MAJOR == driver->id >> ETHOS_U_ID_ARCH_MAJOR &&
         (stream->id >> ETHOS_U_ID_ARCH_MINOR & 0xFF) <=
             (driver->id >> ETHOS_U_ID_ARCH_MINOR & 0xFF);
}

ethos_u_status ethos_u_reset(ethos_u_driver *driver) {
  const ethos_u_board *board = driver->board;
  const uint32_t state = (board->privileged ? ETHOS_U_PROT_PRIVILEGED : 0u) |
                         (board->non_secure ? ETHOS_U_PROT_NON_SECURE : 0u);
  driver->interrupted = false;
  write(driver, ETHOS_U_REG_RESET, state);
  ethos_u_stopwatch watch = start_watch(board);
  while ((read(driver, ETHOS_U_REG_STATUS) & ETHOS_U_STATUS_RESETTING) != 0) {
    if (has_passed(&watch, board->reset_ticks)) {
      return ETHOS_U_ERROR_RESET;
    }
  }
  return read(driver, ETHOS_U_REG_PROT) == state ? ETHOS_U_OK : ETHOS_U_ERROR_SECURITY;
}

// U55 and U65: REGIONCFG and QCONFIG name counters, each with its limits.
static void set_up_counters(const ethos_u_driver *driver) {
  for (uint32_t i = 0; i < 4; ++i) {
    const ethos_u_axi_limit *limit = &driver->board->axi_limits[i];
    write(driver, ETHOS_U_REG_AXI_LIMIT0 + 4 * i,
          limit->max_beats | (uint32_t)limit->memory_type << 4 |
              (uint32_t)(limit->outstanding_reads - 1) << 16 |
              (uint32_t)(limit->outstanding_writes - 1) << 24);
  }
}

static void limit_port(const ethos_u_driver *driver, uint32_t offset,
                       const ethos_u_axi_limit *limit) {
  write(driver, offset,
        (uint32_t)(limit->outstanding_reads - 1) | (uint32_t)(limit->outstanding_writes - 1) << 8 |
            (uint32_t)limit->max_beats << 16);
}

// U85: they name attributes, two for each port, and each port has its limits.
static void set_up_attributes(const ethos_u_driver *driver) {
  const ethos_u_axi_limit *limits = driver->board->axi_limits;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t is_external = i >= PORT1 ? 1 : 0;
    write(driver, ETHOS_U_REG_MEM_ATTR0 + 4 * i,
          is_external << 2 | (uint32_t)limits[i].memory_type << 4);
  }
  limit_port(driver, ETHOS_U_REG_AXI_SRAM, &limits[PORT0]);
  limit_port(driver, ETHOS_U_REG_AXI_EXT, &limits[PORT1]);
}

static void set_up_memory(const ethos_u_driver *driver, const ethos_u_stream *stream,
                          const ethos_u_region *regions) {
  const ethos_u_board *board = driver->board;
  const ethos_u_memory_mode mode = board->memory_mode;
  const uint32_t constants = mode == ETHOS_U_SRAM_ONLY ? PORT0 : PORT1_CONSTANTS;
  const uint32_t scratch = mode == ETHOS_U_DEDICATED_SRAM ? PORT1 : PORT0;
  if (is_u85(driver)) {
    set_up_attributes(driver);
  } else {
    set_up_counters(driver);
  }
  write(driver, ETHOS_U_REG_REGIONCFG,
        constants << 2 * ETHOS_U_REGION_WEIGHTS | scratch << 2 * ETHOS_U_REGION_SCRATCH |
            (uint32_t)PORT0 << 2 * ETHOS_U_REGION_FAST_SCRATCH);
  for (uint32_t i = 0; i < ETHOS_U_REGION_COUNT; ++i) {
    write_address(driver, ETHOS_U_REG_BASEP + 8 * i, regions[i].data);
  }
  write(driver, ETHOS_U_REG_QCONFIG, mode == ETHOS_U_SRAM_ONLY ? PORT0 : PORT1);
  write_address(driver, ETHOS_U_REG_QBASE, stream->words);
  write(driver, ETHOS_U_REG_QSIZE, stream->count * (uint32_t)sizeof(stream->words[0]));
}

// Cache lines invalidated after a run must be shared with nothing else, because that would be lost
// too.
static bool has_own_cache_lines(const ethos_u_board *board, const ethos_u_region *regions) {
  const uint32_t line = board->cache_line == 0 ? USUAL_CACHE_LINE : board->cache_line;
  for (int i = 0; board->cache_invalidate != NULL && i < ETHOS_U_REGION_COUNT; ++i) {
    const ethos_u_region *region = &regions[i];
    if (region->writable && region->size != 0 &&
        ((uintptr_t)region->data % line != 0 || region->size % line != 0)) {
      return false;
    }
  }
  return true;
}

static void clean_caches(const ethos_u_board *board, const ethos_u_stream *stream,
                         const ethos_u_region *regions) {
  if (board->cache_clean == NULL) {
    return;
  }
  board->cache_clean(stream->words, stream->count * (uint32_t)sizeof(stream->words[0]));
  for (int i = 0; i < ETHOS_U_REGION_COUNT; ++i) {
    if (regions[i].size != 0) {
      board->cache_clean(regions[i].data, regions[i].size);
    }
  }
}

static void invalidate_caches(const ethos_u_board *board, const ethos_u_region *regions) {
  for (int i = 0; board->cache_invalidate != NULL && i < ETHOS_U_REGION_COUNT; ++i) {
    if (regions[i].size != 0 && regions[i].writable) {
      board->cache_invalidate(regions[i].data, regions[i].size);
    }
  }
}

// Returns true if the NPU has ended, well or not; `status` then holds its register.
static bool is_over(ethos_u_driver *driver) {
  driver->status = read(driver, ETHOS_U_REG_STATUS);
  if (driver->interrupted) {
    driver->status = driver->interrupt_status;
    return true;
  }
  const bool running = (driver->status & ETHOS_U_STATUS_RUNNING) != 0;
  const bool stopped = driver->seen_running && !running;
  driver->seen_running = running;
  return stopped ||
         (driver->status & (ETHOS_U_STATUS_IRQ_RAISED | ETHOS_U_STATUS_END_REACHED | FAULTS)) != 0;
}

// False if it takes too long.
static bool wait_for_end(ethos_u_driver *driver) {
  const ethos_u_board *board = driver->board;
  while (!is_over(driver)) {
    if (has_passed(&driver->watch, board->run_ticks)) {
      return false;
    }
    if (board->wait != NULL) {
      board->wait(driver);
    }
  }
  return true;
}

// A timeout also counts as the end, so `finish` does not wait for it either.
static bool has_ended(ethos_u_device *device) {
  ethos_u_driver *driver = (ethos_u_driver *)(void *)device;
  return is_over(driver) || has_passed(&driver->watch, driver->board->run_ticks);
}

static ethos_u_status result_of(uint32_t status) {
  if ((status & ETHOS_U_STATUS_BUS_ERROR) != 0) {
    return ETHOS_U_ERROR_BUS;
  }
  if ((status & (ETHOS_U_STATUS_PARSE_ERROR | ETHOS_U_STATUS_BRANCH)) != 0) {
    return ETHOS_U_ERROR_PARSE;
  }
  if ((status & ETHOS_U_STATUS_WATCHDOG) != 0) {
    return ETHOS_U_ERROR_WATCHDOG;
  }
  if ((status & ETHOS_U_STATUS_ECC) != 0) {
    return ETHOS_U_ERROR_ECC;
  }
  // Stopped without an end: someone else reset it.
  return (status & ETHOS_U_STATUS_END_REACHED) != 0 ? ETHOS_U_OK : ETHOS_U_ERROR_RESET;
}

static ethos_u_status start(ethos_u_device *device, const ethos_u_stream *stream,
                            const ethos_u_region *regions) {
  ethos_u_driver *driver = (ethos_u_driver *)(void *)device;
  const ethos_u_board *board = driver->board;
  if (!is_for(driver, stream)) {
    return ETHOS_U_ERROR_CONFIG;
  }
  if (!has_own_cache_lines(board, regions)) {
    return ETHOS_U_ERROR_ALIGNMENT;
  }
  // Clock and power stay on from here. Registers may have been lost since the last run, so every
  // run starts from a reset and writes all of them.
  write(driver, ETHOS_U_REG_CMD, 0);
  const ethos_u_status result = ethos_u_reset(driver);
  if (result != ETHOS_U_OK) {
    return result;
  }
  memcpy(driver->regions, regions, sizeof driver->regions);
  clean_caches(board, stream, regions);
  set_up_memory(driver, stream, regions);
  ethos_u_pmu_start(&driver->pmu, counters_of(driver));
  write(driver, ETHOS_U_REG_CMD, ETHOS_U_CMD_CLEAR_IRQ);
  driver->watch = start_watch(board);
  driver->seen_running = false;
  write(driver, ETHOS_U_REG_CMD, ETHOS_U_CMD_RUN);
  return ETHOS_U_OK;
}

static ethos_u_status finish(ethos_u_device *device) {
  ethos_u_driver *driver = (ethos_u_driver *)(void *)device;
  const ethos_u_board *board = driver->board;
  const bool ended = wait_for_end(driver);
  driver->queue_position = read(driver, ETHOS_U_REG_QREAD);
  ethos_u_pmu_stop(&driver->pmu, counters_of(driver));
  ethos_u_status result = ended ? result_of(driver->status) : ETHOS_U_ERROR_TIMEOUT;
  if (result != ETHOS_U_OK) {
    write(driver, ETHOS_U_REG_CMD, ETHOS_U_CMD_STOP);
    if (ethos_u_reset(driver) != ETHOS_U_OK) {
      result = ETHOS_U_ERROR_RESET;
    }
  }
  write(driver, ETHOS_U_REG_CMD,
        ETHOS_U_CMD_CLEAR_IRQ | ETHOS_U_CMD_CLOCK_Q_ENABLE | ETHOS_U_CMD_POWER_Q_ENABLE);
  invalidate_caches(board, driver->regions);
  return result;
}

ethos_u_status ethos_u_open(ethos_u_driver *driver, const ethos_u_board *board,
                            ethos_u_device **device) {
  if (driver == NULL || board == NULL || device == NULL) {
    return ETHOS_U_ERROR_NULL;
  }
  memset(driver, 0, sizeof(*driver));
  driver->board = board;
  driver->device.start = start;
  driver->device.has_ended = has_ended;
  driver->device.finish = finish;
  *device = NULL;
  if (!identify(driver)) {
    *device = board->simulator;
    return board->simulator == NULL ? ETHOS_U_ERROR_NO_NPU : ETHOS_U_OK;
  }
  *device = &driver->device;
  write(driver, ETHOS_U_REG_CMD, 0);
  const ethos_u_status status = ethos_u_reset(driver);
  write(driver, ETHOS_U_REG_CMD, ETHOS_U_CMD_CLOCK_Q_ENABLE | ETHOS_U_CMD_POWER_Q_ENABLE);
  return status;
}

void ethos_u_interrupt(ethos_u_driver *driver) {
  const uint32_t status = read(driver, ETHOS_U_REG_STATUS);
  if ((status & ETHOS_U_STATUS_IRQ_RAISED) == 0) {
    return;
  }
  driver->interrupt_status = status;
  driver->interrupted = true;
  write(driver, ETHOS_U_REG_CMD, ETHOS_U_CMD_CLEAR_IRQ);
}
