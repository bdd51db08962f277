// SPDX-License-Identifier: Apache-2.0
#ifndef BOARDS_TESTS_PREPARED_INIT_H_
#define BOARDS_TESTS_PREPARED_INIT_H_

#include <stdint.h>

// The reload value of the core's timer. No other code writes this register.
#define TIMER_RELOAD (*(volatile uint32_t *)0xe000e014u)

enum { PREPARED = 0x5a5a5a };

// Variables written by pl_chip_init before their initialization.
extern volatile uint32_t with_a_value;
extern volatile uint32_t zero;

#endif  // BOARDS_TESTS_PREPARED_INIT_H_
