// SPDX-License-Identifier: Apache-2.0
// Bare-metal driver of Ethos-U55, Ethos-U65 and Ethos-U85. One run at a time (see device.h for the
// permitted callers).
#ifndef FIRMWARE_ETHOS_U_DRIVER_DRIVER_H_
#define FIRMWARE_ETHOS_U_DRIVER_DRIVER_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/ethos_u/driver/registers.h"
#include "npu/ethos_u/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// Vela's memory modes: the memory for each AXI port.
typedef enum {
  ETHOS_U_SRAM_ONLY,       // everything on port 0
  ETHOS_U_SHARED_SRAM,     // constants on port 1, the scratch on port 0
  ETHOS_U_DEDICATED_SRAM,  // constants and scratch on port 1, the fast scratch on port 0
} ethos_u_memory_mode;

// Limits of the four AXI counters: 0 and 1 are of port 0, 2 and 3 of port 1. On U85 port 0 is
// SRAM's, port 1 the external memory's: each takes the limits of its first counter, and memory
// types are by counter.
typedef struct {
  uint8_t max_beats;           // 0: 64 bytes a burst, 1: 128, 2: 256
  uint8_t memory_type;         // AXI encoding, 0 to 11
  uint8_t outstanding_reads;   // 1 to 64
  uint8_t outstanding_writes;  // 1 to 32
} ethos_u_axi_limit;

typedef struct ethos_u_driver ethos_u_driver;

// Description of a board's NPU. Functions may be null if documented.
typedef struct {
  uintptr_t base;  // of the registers
  uint32_t irq;    // for the program that enables it and calls ethos_u_interrupt from its handler
  bool privileged;
  bool non_secure;
  ethos_u_memory_mode memory_mode;
  ethos_u_axi_limit axi_limits[4];

  // Time in ticks of any length that wraps at 32 bits. Null: every poll is a tick.
  uint32_t (*ticks)(void);
  uint32_t reset_ticks;  // a reset takes less
  uint32_t run_ticks;    // an inference takes less

  // Sleeps until an interrupt, or returns at once. It must not sleep if the driver's `interrupted`
  // is already set. It must wake up now and then, else a hang is not detected. Null: the driver
  // polls.
  void (*wait)(ethos_u_driver *driver);

  // An address as the NPU's bus sees it. Null: as the core sees it.
  uint64_t (*bus_address)(const void *data);

  // Data cache, for cores with one: clean before a run, invalidate after it. May be null. With
  // cache_invalidate, scratch and fast scratch must start and end at cache lines, else a run is
  // ETHOS_U_ERROR_ALIGNMENT. Other data in such a line would be lost.
  void (*cache_clean)(const void *data, uint32_t size);
  void (*cache_invalidate)(const void *data, uint32_t size);
  uint32_t cache_line;  // bytes; 0 for 32, as Cortex-M7, M55 and M85 have it

  // Functional model that executes if no NPU answers, for simulated boards. Null on silicon; a
  // missing NPU is an error there.
  ethos_u_device *simulator;
} ethos_u_board;

// Performance counters of a run.
typedef struct {
  bool enabled;
  uint16_t events[ETHOS_U_PM_EVENT_COUNTERS];  // event numbers to count, 0 for none
  // Results of the last run.
  uint64_t cycles;
  uint32_t counts[ETHOS_U_PM_EVENT_COUNTERS];
  uint32_t overflowed;  // bit i: event counter i
} ethos_u_pmu;

// A running time measurement; private.
typedef struct {
  const ethos_u_board *board;
  uint32_t start;
  uint32_t polls;
} ethos_u_stopwatch;

struct ethos_u_driver {
  ethos_u_device device;  // first: a pointer to it is one to the whole
  const ethos_u_board *board;
  uint32_t id;  // registers of the NPU that answered
  uint32_t config;
  ethos_u_pmu pmu;
  // Results of the last run, for diagnosis.
  uint32_t status;          // the STATUS register at its end
  uint32_t queue_position;  // bytes of the stream the NPU had read
  // Set by the interrupt handler.
  volatile bool interrupted;
  volatile uint32_t interrupt_status;
  // State of the current run; private.
  ethos_u_region regions[ETHOS_U_REGION_COUNT];
  ethos_u_stopwatch watch;
  bool seen_running;
};

// Identifies the NPU and resets it. *device is the device for payloads: the driver's own, or the
// board's simulator if nothing answers and it has one. ETHOS_U_ERROR_NO_NPU, _RESET, _SECURITY.
ETHOS_U_MUST_USE ethos_u_status ethos_u_open(ethos_u_driver *driver, const ethos_u_board *board,
                                             ethos_u_device **device);

// Resets the NPU into the board's security state, whatever it is doing. A run does this by itself
// after a fault.
ETHOS_U_MUST_USE ethos_u_status ethos_u_reset(ethos_u_driver *driver);

// Call this in the NPU's interrupt handler. An interrupt the NPU did not raise is ignored.
void ethos_u_interrupt(ethos_u_driver *driver);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_DRIVER_DRIVER_H_
