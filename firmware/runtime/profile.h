// SPDX-License-Identifier: Apache-2.0
//
// Marks regions of a program for an external profiler. The simulator counts the instructions
// between a call of pl_profile_begin and the call of pl_profile_end of the same region. The
// functions themselves do nothing.
#ifndef FIRMWARE_RUNTIME_PROFILE_H_
#define FIRMWARE_RUNTIME_PROFILE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PL_PROFILE_INFERENCE = 0,  // one inference
  PL_PROFILE_STEP = 1,       // and up: step i of the plan is region PL_PROFILE_STEP + i
};

// Sets the plan of all regions that begin from now on: its address, NULL for none. The end of a
// region restores the plan set at its begin.
void pl_profile_plan(const void *plan);

void pl_profile_begin(uint32_t region);
void pl_profile_end(uint32_t region);

// For programs that mark every step (--//firmware/runtime:profile_steps), on silicon: the core's
// cycles so far modulo 2^32, by its DWT. 0 if there is no such counter, as in the simulator.
uint32_t pl_profile_cycles(void);

// Prints "PL:STEP <region> <cycles> <address of the plan>" if the core has that counter.
void pl_profile_report(const void *plan, uint32_t region, uint32_t cycles);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_RUNTIME_PROFILE_H_
