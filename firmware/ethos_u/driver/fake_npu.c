// SPDX-License-Identifier: Apache-2.0
#include "firmware/ethos_u/driver/fake_npu.h"

#include <string.h>

#include "firmware/ethos_u/driver/registers.h"

#define BUS_BASE UINT64_C(0x1320000000)  // beyond 32 bits

enum {
  GARBAGE = 0x5A5A5A5A,
  ETHOS_U55_128 = 0x00001807,
  COUNTERS_SIZE = 0x280,
};

fake_npu fake;
static uint32_t registers[ETHOS_U_REGISTERS_SIZE / 4];
static bool is_reset;       // since power was lost
static uint32_t remaining;  // reads of STATUS until the run ends
static uint32_t end_status;
static ethos_u_model_summary summary;
static _Alignas(16) uint8_t small_workspace[FAKE_WORKSPACE_BYTES];

static uint32_t *reg(uint32_t offset) { return &registers[offset / 4]; }

static bool is_counter(uintptr_t offset) {
  return offset >= ETHOS_U_REG_PMCR && offset < ETHOS_U_REG_PMCR + COUNTERS_SIZE;
}

// Offset of a register as U55 and U65 have it, or ETHOS_U_REGISTERS_SIZE for none.
static uint32_t place_of(uintptr_t address) {
  const uintptr_t offset = address - FAKE_BASE;
  const bool is_u85 = fake.config >> ETHOS_U_CONFIG_PRODUCT == 2;
  const bool is_far = offset >= ETHOS_U_U85_COUNTERS;
  const uintptr_t place = is_far ? offset - ETHOS_U_U85_COUNTERS : offset;
  const bool exists = is_far ? is_u85 && is_counter(place) : !(is_u85 && is_counter(place));
  return exists && place % 4 == 0 && place < ETHOS_U_U85_COUNTERS ? (uint32_t)place
                                                                  : ETHOS_U_REGISTERS_SIZE;
}

static bool is_running(void) { return (*reg(ETHOS_U_REG_STATUS) & ETHOS_U_STATUS_RUNNING) != 0; }

static void violate(const char *what) {
  ++fake.violations;
  fake.violation = what;
}

static void lose_power(void) {
  memset(registers, GARBAGE & 0xFF, sizeof(registers));
  *reg(ETHOS_U_REG_STATUS) = 0;
  *reg(ETHOS_U_REG_CMD) = ETHOS_U_CMD_CLOCK_Q_ENABLE | ETHOS_U_CMD_POWER_Q_ENABLE;
  is_reset = false;
}

void fake_npu_power_on(void) {
  static const fake_npu clean = {
      .config = ETHOS_U55_128,
      .id = 0x10066001,
      .latency = 3,
      .bus_base = BUS_BASE,
      .reached = fake.memory,
      .reached_bytes = FAKE_MEMORY_BYTES,
      .model_config = ETHOS_U55_128,
      .workspace = small_workspace,
      .workspace_bytes = FAKE_WORKSPACE_BYTES,
  };
  memcpy(&fake, &clean, sizeof(fake));
  lose_power();
}

uint64_t fake_npu_bus_address(const void *data) {
  if (data == NULL) {
    return 0;
  }
  return BUS_BASE + (uint64_t)((const uint8_t *)data - fake.memory);
}

// Offset in memory of the address in a pair of registers, or beyond it.
static uint64_t offset_of(uint32_t offset) {
  const uint64_t address = (uint64_t)*reg(offset + 4) << 32 | *reg(offset);
  return address < fake.bus_base ? fake.reached_bytes : address - fake.bus_base;
}

static uint32_t status_of(ethos_u_status status) {
  switch (status) {
    case ETHOS_U_OK:
      return ETHOS_U_STATUS_END_REACHED;
    case ETHOS_U_ERROR_ADDRESS:
    case ETHOS_U_ERROR_READ_ONLY:
      return ETHOS_U_STATUS_BUS_ERROR;
    case ETHOS_U_ERROR_WEIGHT_STREAM:
      return ETHOS_U_STATUS_WATCHDOG;
    default:
      return ETHOS_U_STATUS_PARSE_ERROR;
  }
}

// Executes the queue on the memory at the base pointers; the result becomes visible at the end of
// the run.
static uint32_t execute(void) {
  const uint64_t queue = offset_of(ETHOS_U_REG_QBASE);
  const uint32_t size = *reg(ETHOS_U_REG_QSIZE);
  if (queue % 16 != 0 || size % 4 != 0) {
    violate("queue not aligned");
  }
  if (queue + size > fake.reached_bytes || fake.behaviour == FAKE_BUS_ERROR) {
    return ETHOS_U_STATUS_BUS_ERROR | ETHOS_U_STATUS_FAULTING_INTERFACE |
           2u << ETHOS_U_STATUS_FAULTING_CHANNEL;
  }
  if (fake.behaviour == FAKE_WATCHDOG) {
    return ETHOS_U_STATUS_WATCHDOG;
  }
  if (fake.behaviour == FAKE_ECC) {
    return ETHOS_U_STATUS_ECC;
  }
  if (fake.behaviour == FAKE_BRANCH) {
    return ETHOS_U_STATUS_BRANCH;
  }
  ethos_u_region regions[ETHOS_U_REGION_COUNT];
  for (uint32_t i = 0; i < ETHOS_U_REGION_COUNT; ++i) {
    const uint64_t base = offset_of(ETHOS_U_REG_BASEP + 8 * i);
    const bool inside = base < fake.reached_bytes;
    if (inside && base % 16 != 0) {
      violate("base pointer not aligned");
    }
    regions[i] = (ethos_u_region){fake.reached + (inside ? base : 0),
                                  inside ? fake.reached_bytes - (uint32_t)base : 0, true};
  }
  const ethos_u_stream stream = {(const uint32_t *)(const void *)(fake.reached + queue), size / 4,
                                 fake.model_config, fake.id};
  ethos_u_error error;
  const ethos_u_status status = ethos_u_model_run(&stream, regions, fake.workspace,
                                                  fake.workspace_bytes, NULL, &summary, &error);
  *reg(ETHOS_U_REG_QREAD) = status == ETHOS_U_OK ? size : error.offset * 4;
  return status_of(status);
}

static void start(void) {
  if (!is_reset) {
    violate("run without a reset");
  }
  ++fake.runs;
  memcpy(fake.axi, reg(ETHOS_U_REG_AXI_LIMIT0), sizeof(fake.axi));
  fake.region_config = *reg(ETHOS_U_REG_REGIONCFG);
  fake.queue_config = *reg(ETHOS_U_REG_QCONFIG);
  // Its time may pass in a handler: it runs from when there is a result to show.
  end_status = execute();
  remaining = fake.latency;
  *reg(ETHOS_U_REG_STATUS) = ETHOS_U_STATUS_RUNNING;
}

static void count_events(void) {
  if ((*reg(ETHOS_U_REG_PMCR) & ETHOS_U_PMCR_ENABLE) == 0) {
    return;
  }
  if ((*reg(ETHOS_U_REG_PMCNTENSET) & ETHOS_U_PM_CYCLE_COUNTER) != 0) {
    // Large, so the upper half matters.
    const uint64_t cycles = summary.counts.cycles + (UINT64_C(7) << 32);
    *reg(ETHOS_U_REG_PMCCNTR) = (uint32_t)cycles;
    *reg(ETHOS_U_REG_PMCCNTR + 4) = (uint32_t)(cycles >> 32);
  }
  for (uint32_t i = 0; i < ETHOS_U_PM_EVENT_COUNTERS; ++i) {
    if ((*reg(ETHOS_U_REG_PMCNTENSET) >> i & 1) != 0) {
      *reg(ETHOS_U_REG_PMEVCNTR + 4 * i) = *reg(ETHOS_U_REG_PMEVTYPER + 4 * i) + 1000;
    }
  }
}

static void finish(void) {
  *reg(ETHOS_U_REG_STATUS) = end_status | ETHOS_U_STATUS_IRQ_RAISED;
  ++fake.interrupts_raised;
  count_events();
  if (fake.raise != NULL) {
    fake.raise();
  }
}

void fake_npu_advance(void) {
  if (!is_running() || fake.behaviour == FAKE_HANG || fake.behaviour == FAKE_DEAF) {
    return;
  }
  if (remaining > 0) {
    --remaining;
    return;
  }
  if (fake.behaviour == FAKE_RESET_WHILE_RUNNING) {
    lose_power();
    return;
  }
  finish();
}

void fake_npu_wait(ethos_u_driver *driver) {
  if (!fake.interrupts) {
    return;
  }
  fake_npu_advance();
  if ((*reg(ETHOS_U_REG_STATUS) & ETHOS_U_STATUS_IRQ_RAISED) != 0) {
    ethos_u_interrupt(driver);
  }
}

uint32_t ethos_u_register_read(uintptr_t base, uint32_t offset) {
  const uint32_t place = place_of(base + offset);
  if (place == ETHOS_U_REGISTERS_SIZE) {
    violate("read outside of the registers");
    return 0;
  }
  if (fake.behaviour == FAKE_EMPTY_BUS) {
    return 0;
  }
  switch (place) {
    case ETHOS_U_REG_ID:
      return fake.id;
    case ETHOS_U_REG_CONFIG:
      return fake.behaviour == FAKE_OTHER_PRODUCT ? 0x30000008 : fake.config;
    case ETHOS_U_REG_STATUS:
      if (!fake.interrupts) {
        fake_npu_advance();
      }
      return *reg(place);
    case ETHOS_U_REG_PROT:
      return fake.behaviour == FAKE_WRONG_STATE ? ETHOS_U_PROT_NON_SECURE : *reg(place);
    default:
      return *reg(place);
  }
}

static void reset(uint32_t state) {
  ++fake.resets;
  if (fake.behaviour == FAKE_DEAF && is_running()) {
    *reg(ETHOS_U_REG_STATUS) |= ETHOS_U_STATUS_RESETTING;
    return;
  }
  memset(registers, 0, sizeof(registers));
  *reg(ETHOS_U_REG_PROT) = state;
  *reg(ETHOS_U_REG_STATUS) =
      fake.behaviour == FAKE_STUCK_RESET ? (uint32_t)ETHOS_U_STATUS_RESETTING : 0;
  is_reset = true;
}

static void command(uint32_t value) {
  if ((value & ETHOS_U_CMD_CLEAR_IRQ) != 0) {
    *reg(ETHOS_U_REG_STATUS) &= ~(uint32_t)ETHOS_U_STATUS_IRQ_RAISED;
  }
  if ((value & ETHOS_U_CMD_RUN) != 0) {
    if ((value & (ETHOS_U_CMD_CLOCK_Q_ENABLE | ETHOS_U_CMD_POWER_Q_ENABLE)) != 0) {
      violate("clock and power may go while running");
    }
    start();
  }
  // Power goes off as soon as allowed: no written value is kept.
  if ((value & ETHOS_U_CMD_POWER_Q_ENABLE) != 0 && !is_running()) {
    lose_power();
  }
}

void ethos_u_register_write(uintptr_t base, uint32_t offset, uint32_t value) {
  const uint32_t place = place_of(base + offset);
  if (place == ETHOS_U_REGISTERS_SIZE) {
    violate("write outside of the registers");
    return;
  }
  if (fake.behaviour == FAKE_EMPTY_BUS) {
    return;
  }
  if (place == ETHOS_U_REG_RESET) {
    reset(value);
    return;
  }
  if (place == ETHOS_U_REG_CMD) {
    command(value);
    return;
  }
  if (is_running() && (place < ETHOS_U_REG_PMCR || place >= ETHOS_U_REG_PMCCNTR)) {
    violate("write while running");
  }
  if (place == ETHOS_U_REG_ID || place == ETHOS_U_REG_STATUS || place == ETHOS_U_REG_CONFIG ||
      place == ETHOS_U_REG_PROT || place == ETHOS_U_REG_QREAD) {
    violate("write to a register that is read only");
    return;
  }
  if (place == ETHOS_U_REG_PMCNTENCLR) {
    *reg(ETHOS_U_REG_PMCNTENSET) &= ~value;
    return;
  }
  if (place == ETHOS_U_REG_PMCNTENSET) {
    value |= *reg(place);
  }
  *reg(place) = value;
}
