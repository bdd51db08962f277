// SPDX-License-Identifier: Apache-2.0
//
// What Cortex-M33, M55 and M85 have in common.
#ifndef BOARDS_COMMON_CPU_ARMV8M_H_
#define BOARDS_COMMON_CPU_ARMV8M_H_

#include <stdint.h>

// As pl_cpu_mainline_init, with secure faults told apart and both stack limits set, so that an
// overflow is a UsageFault at once. `ccr`: more bits for the configuration register.
void pl_cpu_armv8m_init(const void *vector_table, uint32_t ccr);

#endif  // BOARDS_COMMON_CPU_ARMV8M_H_
