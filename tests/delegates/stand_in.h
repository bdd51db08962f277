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
enum {
  STAND_IN_FAILS = 42,
  STAND_IN_MISPLACED,
  STAND_IN_UNKNOWN,
  STAND_IN_BUFFERS,
  STAND_IN_REFUSES
};

typedef struct {
  uint32_t runs;        // so far
  uint32_t fails_at;    // the run that fails, counted from 1; 0 for none
  uint32_t refused_at;  // the run that cannot be started, likewise
  uint32_t polls;       // after which a run that was started has ended
  uint32_t polled;      // of that run so far
  uintptr_t reach;      // first address that the engine reaches
  uint32_t reach_size;  // bytes; 0 if it reaches everything
} stand_in;

// Never fails; `configuration` is the engine's.
pl_engine stand_in_engine(stand_in *handle, const char *configuration);

// The same, which runs delegates in parts, too.
pl_engine stand_in_split_engine(stand_in *handle, const char *configuration);

#endif  // TESTS_DELEGATES_STAND_IN_H_
