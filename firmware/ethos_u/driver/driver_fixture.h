// SPDX-License-Identifier: Apache-2.0
// Common code of the driver's tests: a board with the fake NPU, and runs on it.
#ifndef FIRMWARE_ETHOS_U_DRIVER_DRIVER_FIXTURE_H_
#define FIRMWARE_ETHOS_U_DRIVER_DRIVER_FIXTURE_H_

#include <stdint.h>

#include "firmware/ethos_u/driver/driver.h"
#include "firmware/ethos_u/driver/fake_npu.h"

// Positions in the fake's memory.
enum { STREAM = 0, SCRATCH = 2048, SCRATCH_SIZE = 96, TENSOR_BYTES = 24 };

extern ethos_u_board board;
extern ethos_u_driver driver;
extern ethos_u_device *device;
extern uint32_t cleaned;  // bytes, by the board's cache hooks
extern uint32_t invalidated;

ethos_u_board board_for(ethos_u_memory_mode mode);

// Switches the fake on, with a fresh board for it.
void begin(void);

// Opens the driver, which must find the fake.
void open_device(void);

// Returns a payload that copies its input to its output, in the fake's memory.
ethos_u_payload copy_payload(void);

// Runs it, with inputs differing by seed; checks the outputs of a successful run.
ethos_u_status run_payload(const ethos_u_payload *payload, uint8_t seed);
ethos_u_status run(uint8_t seed);

void expect_no_violation(int line);

// Whatever happened before, the next two runs must work.
void expect_recovery(int line);

#endif  // FIRMWARE_ETHOS_U_DRIVER_DRIVER_FIXTURE_H_
