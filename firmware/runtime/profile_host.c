// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/profile.h"

// The empty statements keep the compiler from merging equal functions, or from removing their
// calls. A profiler finds them by their addresses.

__attribute__((noinline)) void pl_profile_plan(const void *plan) {
  __asm__ volatile("" : : "r"(plan), "i"(2) : "memory");
}

__attribute__((noinline)) void pl_profile_begin(uint32_t region) {
  __asm__ volatile("" : : "r"(region), "i"(0) : "memory");
}

__attribute__((noinline)) void pl_profile_end(uint32_t region) {
  __asm__ volatile("" : : "r"(region), "i"(1) : "memory");
}
