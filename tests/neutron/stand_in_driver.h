// SPDX-License-Identifier: Apache-2.0
//
// NXP's NeutronDriver without an NPU. A program of the stand-in converter
// (aot/backends/neutron/testing/stand_in.py) has the sent .tflite file as its weights. A plan
// compiled from the same file for the core is run.
#ifndef TESTS_NEUTRON_STAND_IN_DRIVER_H_
#define TESTS_NEUTRON_STAND_IN_DRIVER_H_

#include <stdint.h>

#include "firmware/runtime/plan.h"

// Plan of a file, by this CRC-32.
typedef struct {
  uint32_t checksum;
  const pl_plan *plan;
} stand_in_region;

extern const stand_in_region stand_in_regions[];
extern const uint32_t stand_in_region_count;

// Inputs of the driver, and its records.
typedef struct {
  uint32_t runs;             // so far
  uint32_t fails_at;         // index of the failing run, counted from 1; 0 for none
  uint32_t prepared;         // programs prepared and not released
  uint32_t fetched;          // bytes of weights copied by the core
  uint32_t context_bytes;    // of a prepared program
  uint32_t timeout_seconds;  // of the last program
  int32_t init;              // result of neutronInit
} stand_in_driver;

// The only one, as NXP's is.
stand_in_driver *stand_in_driver_state(void);

// The driver's numbers.
enum { STAND_IN_FAILS = 0x1103, STAND_IN_MISPLACED = 0x1203, STAND_IN_UNKNOWN = 0x1303 };

#endif  // TESTS_NEUTRON_STAND_IN_DRIVER_H_
