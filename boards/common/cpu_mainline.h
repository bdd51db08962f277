// SPDX-License-Identifier: Apache-2.0
//
// Common code of the cores with the main extension (all but M0 and M0+).
#ifndef BOARDS_COMMON_CPU_MAINLINE_H_
#define BOARDS_COMMON_CPU_MAINLINE_H_

#include <stdint.h>

// Addresses of system control registers.
#define PL_VTOR 0xe000ed08u
#define PL_CCR 0xe000ed14u
#define PL_SHCSR 0xe000ed24u
#define PL_CFSR 0xe000ed28u
#define PL_HFSR 0xe000ed2cu
#define PL_MMFAR 0xe000ed34u
#define PL_BFAR 0xe000ed38u
#define PL_CPACR 0xe000ed88u
#define PL_SFSR 0xe000ede4u  // Armv8-M
#define PL_SFAR 0xe000ede8u  // Armv8-M

// Bits of the configuration and control register.
enum {
  PL_CCR_DIV_0_TRP = 1 << 4,
  PL_CCR_LOB = 1 << 19,  // Armv8.1-M: loop and branch cache
};

// Bits of the configurable fault status register: an exception's registers were not saved.
enum {
  PL_CFSR_MSTKERR = 1 << 4,
  PL_CFSR_STKERR = 1 << 12,
  PL_CFSR_STKOF = 1 << 20,  // Armv8-M
};

// Bits of the system handler control and state register.
enum {
  PL_SHCSR_MEMFAULTENA = 1 << 16,
  PL_SHCSR_BUSFAULTENA = 1 << 17,
  PL_SHCSR_USGFAULTENA = 1 << 18,
  PL_SHCSR_SECUREFAULTENA = 1 << 19,  // Armv8-M
};

// Sets the vector table and turns on the floating point and vector units (a core without them
// ignores that). Also makes the given faults distinct exceptions and sets bits of the configuration
// register.
void pl_cpu_mainline_init(const void *vector_table, uint32_t shcsr, uint32_t ccr);

// Prints cfsr, hfsr, mmfar and bfar.
void pl_cpu_mainline_print_fault_status(void);

#endif  // BOARDS_COMMON_CPU_MAINLINE_H_
