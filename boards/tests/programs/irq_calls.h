// SPDX-License-Identifier: Apache-2.0
#ifndef BOARDS_TESTS_PROGRAMS_IRQ_CALLS_H_
#define BOARDS_TESTS_PROGRAMS_IRQ_CALLS_H_

#include <stdint.h>

// Number of calls of the handlers in irq_handlers.c; irq.c owns the memory.
extern volatile uint32_t pendsv_calls;
extern volatile uint32_t last_calls;

#endif  // BOARDS_TESTS_PROGRAMS_IRQ_CALLS_H_
