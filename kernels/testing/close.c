// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "kernels/testing/runner.h"

#if defined(__ARM_ARCH) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
    __ARM_ARCH >= 7

#define REGISTER(ADDRESS) (*(volatile uint32_t *)(uintptr_t)(ADDRESS))
#define MPU_CTRL REGISTER(0xe000ed94u)
#define MPU_RNR REGISTER(0xe000ed98u)
#define MPU_RBAR REGISTER(0xe000ed9cu)
#define MPU_RASR REGISTER(0xe000eda0u)  // Armv7-M
#define MPU_RLAR REGISTER(0xe000eda0u)  // Armv8-M
#define MPU_MAIR0 REGISTER(0xe000edc0u)

enum { CLOSED_BYTES = 32, ENABLE = 1, DEFAULT_MAP = 4 };

static void finish(void) { __asm__ volatile("dsb\n\tisb" ::: "memory"); }

#if __ARM_ARCH >= 8

// Opens a region. Armv8-M has no region without access: the closed bytes lie between two regions.
static void open_region(uint32_t region, uint32_t first, uint32_t last) {
  enum { READ_WRITE = 1 << 1 };
  MPU_RNR = region;
  MPU_RBAR = first | READ_WRITE;
  MPU_RLAR = (last & ~31u) | ENABLE;
}

void pl_test_close(const void *bytes) {
  enum { NORMAL_MEMORY = 0x44 };
  MPU_CTRL = 0;
  if (bytes) {
    const uint32_t address = (uint32_t)(uintptr_t)bytes;
    MPU_MAIR0 = NORMAL_MEMORY;
    open_region(0, 0, address - 1);
    open_region(1, address + CLOSED_BYTES, UINT32_MAX);
    MPU_CTRL = ENABLE;
  }
  finish();
}

#else

// Region 0 is below the stack.
void pl_test_close(const void *bytes) {
  enum { NEVER_EXECUTED = 1 << 28, SIZE_32 = 4 << 1 };
  MPU_RNR = 1;
  MPU_RASR = 0;
  if (bytes) {
    MPU_RBAR = (uint32_t)(uintptr_t)bytes;
    MPU_RASR = NEVER_EXECUTED | SIZE_32 | ENABLE;
    MPU_CTRL = DEFAULT_MAP | ENABLE;
  }
  finish();
}

#endif

#else

void pl_test_close(const void *bytes) { (void)bytes; }

#endif
