// SPDX-License-Identifier: Apache-2.0
//
// An engine without hardware: a payload is the .pte of its region. A second plan was compiled from
// that .pte, and it is run.
#ifndef TESTS_DELEGATES_STAND_IN_H_
#define TESTS_DELEGATES_STAND_IN_H_

#include <stdint.h>

#include "firmware/runtime/delegate.h"

// Plan of a payload, by the checksum at the end of its .pte.
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
  uint32_t fails_at;    // index of the failing run, counted from 1; 0 for none
  uint32_t refused_at;  // index of the run refused at its start, likewise
  uint32_t polls;       // number of polls until a started run has ended
  uint32_t polled;      // polls of that run so far
  uintptr_t reach;      // first address within the engine's reach
  uint32_t reach_size;  // bytes; 0 if it reaches everything
} stand_in;

// Never fails; `configuration` is the engine's.
pl_engine stand_in_engine(stand_in *handle, const char *configuration);

// Same engine with split runs of delegates, too.
pl_engine stand_in_split_engine(stand_in *handle, const char *configuration);

#endif  // TESTS_DELEGATES_STAND_IN_H_
