// SPDX-License-Identifier: Apache-2.0
//
// An engine without hardware: a payload is the .pte of its region, which a second plan was compiled
// from; that plan is run.
#ifndef TESTS_DELEGATES_STAND_IN_H_
#define TESTS_DELEGATES_STAND_IN_H_

#include <stdint.h>

#include "firmware/runtime/delegate.h"

// Which plan stands for a payload: that with the checksum which a .pte ends with.
typedef struct {
  uint32_t checksum;
  const pl_plan *plan;
} stand_in_region;

extern const stand_in_region stand_in_regions[];
extern const uint32_t stand_in_region_count;

enum { STAND_IN_ALIGNMENT = 64, STAND_IN_SCRATCH = 96 };

// Codes in pl_engine.code.
enum { STAND_IN_FAILS = 42, STAND_IN_MISPLACED, STAND_IN_UNKNOWN, STAND_IN_BUFFERS };

typedef struct {
  uint32_t runs;        // so far
  uint32_t fails_at;    // the run that fails, counted from 1; 0 for none
  uintptr_t reach;      // first address that the engine reaches
  uint32_t reach_size;  // bytes; 0 if it reaches everything
} stand_in;

// Never fails; `configuration` is the engine's.
pl_engine stand_in_engine(stand_in *handle, const char *configuration);

#endif  // TESTS_DELEGATES_STAND_IN_H_
