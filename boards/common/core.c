// SPDX-License-Identifier: Apache-2.0
#include "boards/common/core.h"

#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/cpu.h"
#include "boards/common/link_symbols.h"

// Registers of every M profile core: Armv8-M Architecture Reference Manual, "System Control Block".
#define CPUID 0xe000ed00u
#define ID_ISAR3 0xe000ed6cu
#define CPACR 0xe000ed88u
#define MVFR0 0xe000ef40u
#define MVFR1 0xe000ef44u

enum {
  PART_SHIFT = 4,
  PART_MASK = 0xfff,
  CP10_SHIFT = 20,
  CP10_FULL = 3,
  SIMD_SHIFT = 4,
  SIMD_MASK = 15,
  SIMD_DSP = 3,
  DOUBLE_SHIFT = 8,
  DOUBLE_MASK = 15,
  MVE_SHIFT = 8,
  MVE_MASK = 15,
};

// Prints without the C library, which is compiled for the expected core.
#define SAY(text) pl_console_write(text, sizeof(text) - 1)

static void say_hex(uint32_t value) {
  for (int shift = 28; shift >= 0; shift -= 4) {
    pl_console_write(&"0123456789abcdef"[value >> shift & 15], 1);
  }
}

static bool differs(uint32_t found, uint32_t wanted) {
  SAY(" is 0x");
  say_hex(found);
  SAY(", the image is for 0x");
  say_hex(wanted);
  SAY("\n");
  return false;
}

bool pl_core_is_right(void) {
  const uint32_t part = PL_REGISTER(CPUID) >> PART_SHIFT & PART_MASK;
  const uint32_t wanted = (uint32_t)(uintptr_t)pl_link_core_part;
  if (part != wanted) {
    SAY("PL:FAIL wrong core: its part number");
    return differs(part, wanted);
  }
#if defined(__ARM_FP)
  // Start-up asked for it; where there is none it stays off.
  const uint32_t access = PL_REGISTER(CPACR) >> CP10_SHIFT & CP10_FULL;
  if (access != CP10_FULL) {
    SAY("PL:FAIL wrong core: its access to a floating point unit");
    return differs(access, CP10_FULL);
  }
#endif
#if defined(__ARM_FEATURE_DSP) && __ARM_ARCH >= 8  // Armv7E-M always has them
  const uint32_t simd = PL_REGISTER(ID_ISAR3) >> SIMD_SHIFT & SIMD_MASK;
  if (simd < SIMD_DSP) {
    SAY("PL:FAIL wrong core: its class of DSP instructions");
    return differs(simd, SIMD_DSP);
  }
#endif
#if defined(__ARM_FP) && (__ARM_FP & 8)
  const uint32_t doubles = PL_REGISTER(MVFR0) >> DOUBLE_SHIFT & DOUBLE_MASK;
  if (doubles == 0) {
    SAY("PL:FAIL wrong core: its floating point of double precision");
    return differs(doubles, 2);
  }
#endif
#if defined(__ARM_FEATURE_MVE)
  // 1 for vectors of integers, 2 for those of floats too.
  const uint32_t vectors = PL_REGISTER(MVFR1) >> MVE_SHIFT & MVE_MASK;
  const uint32_t wanted_vectors = (__ARM_FEATURE_MVE & 2) != 0 ? 2 : 1;
  if (vectors < wanted_vectors) {
    SAY("PL:FAIL wrong core: its class of vectors");
    return differs(vectors, wanted_vectors);
  }
#endif
  return true;
}
