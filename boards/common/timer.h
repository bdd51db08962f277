// SPDX-License-Identifier: Apache-2.0
//
// The board's periodic timer. The handler's name is the board's (PL_TIMER_HANDLER of boards/irqs.h,
// its number is PL_TIMER_IRQ):
//
//   void PL_TIMER_HANDLER(void) {
//     pl_timer_acknowledge();
//     ...
//   }
#ifndef BOARDS_COMMON_TIMER_H_
#define BOARDS_COMMON_TIMER_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Calls the handler `hz` times a second from now on. False, and nothing starts, if the timer cannot
// count so slowly or so fast.
bool pl_timer_start(uint32_t hz);

// Stops all further calls, including that of a pending interrupt.
void pl_timer_stop(void);

// Rate of handler calls in Hz, rounded down; 0 if it does not run.
uint32_t pl_timer_rate(void);

// The handler calls it first.
void pl_timer_acknowledge(void);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_COMMON_TIMER_H_
