// SPDX-License-Identifier: Apache-2.0
// An NPU for tests: registers for the driver, implemented by the functional model. It checks the
// protocol strictly, and can fail in the ways that hardware does. There is one.
#ifndef FIRMWARE_ETHOS_U_DRIVER_FAKE_NPU_H_
#define FIRMWARE_ETHOS_U_DRIVER_FAKE_NPU_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/ethos_u/driver/driver.h"
#include "npu/ethos_u/model/model.h"

enum {
  FAKE_BASE = 0x48102000,
  FAKE_MEMORY_BYTES = 4096,
  FAKE_WORKSPACE_BYTES = ETHOS_U_MODEL_STATE_BYTES + 32 * 1024,
};

typedef enum {
  FAKE_WORKS,
  FAKE_EMPTY_BUS,      // nothing answers
  FAKE_OTHER_PRODUCT,  // none of U55, U65 and U85
  FAKE_STUCK_RESET,    // a reset never ends
  FAKE_WRONG_STATE,    // a reset ends in another security state
  FAKE_BUS_ERROR,      // on the first access
  FAKE_WATCHDOG,
  FAKE_ECC,
  FAKE_BRANCH,  // out of the stream, as U85 reports it
  FAKE_HANG,    // runs for ever
  FAKE_DEAF,    // runs for ever and does not even reset
  FAKE_RESET_WHILE_RUNNING,
} fake_behaviour;

typedef struct {
  fake_behaviour behaviour;
  uint32_t config;
  uint32_t id;
  uint32_t latency;     // reads of STATUS during a run
  bool interrupts;      // time passes by fake_npu_advance and fake_npu_wait, not by reads of STATUS
  void (*raise)(void);  // the interrupt's line; null: fake_npu_wait calls the driver's handler

  // Observations.
  uint32_t runs;
  uint32_t resets;
  uint32_t interrupts_raised;
  uint32_t violations;    // of the protocol
  const char *violation;  // the last one
  uint32_t axi[6];        // values at the start of the last run: limits; U85: attributes and limits
  uint32_t region_config;
  uint32_t queue_config;

  // Reachable range of its bus: streams and regions must lie in here. The default is `memory`, from
  // the bus address of fake_npu_bus_address on.
  uint64_t bus_base;
  uint8_t *reached;
  uint32_t reached_bytes;
  // Configuration of the functional model, independent of `config`, and its workspace. The default
  // is an Ethos-U55-128 and a small workspace.
  uint32_t model_config;
  uint8_t *workspace;
  uint64_t workspace_bytes;

  _Alignas(64) uint8_t memory[FAKE_MEMORY_BYTES];
} fake_npu;

extern fake_npu fake;

// Puts the fake into the state after power-on, working.
void fake_npu_power_on(void);

// Hooks for the board.
uint64_t fake_npu_bus_address(const void *data);
void fake_npu_wait(ethos_u_driver *driver);

// Lets time pass, as a read of STATUS does if there are no interrupts.
void fake_npu_advance(void);

#endif  // FIRMWARE_ETHOS_U_DRIVER_FAKE_NPU_H_
