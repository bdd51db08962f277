// SPDX-License-Identifier: Apache-2.0
//
// Common code of Cortex-M33, M55 and M85.
#ifndef BOARDS_COMMON_CPU_ARMV8M_H_
#define BOARDS_COMMON_CPU_ARMV8M_H_

#include <stdint.h>

// Like pl_cpu_mainline_init, with distinct secure faults and both stack limits. An overflow is then
// a UsageFault at once. `ccr`: more bits for the configuration register.
void pl_cpu_armv8m_init(const void *vector_table, uint32_t ccr);

#endif  // BOARDS_COMMON_CPU_ARMV8M_H_
