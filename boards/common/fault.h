// SPDX-License-Identifier: Apache-2.0
#ifndef BOARDS_COMMON_FAULT_H_
#define BOARDS_COMMON_FAULT_H_

// Handler of every exception and interrupt without a handler in the program (boards/common/irq.h).
// Prints one line,
//
//   PL:FAULT <exception, or IRQ and its number> pc=0x... lr=0x... sp=0x... xpsr=0x... [cfsr=0x...
//   hfsr=0x... ...]
//
// and ends the program as failed. pc, lr and xpsr are those of the interrupted code. They read 0 if
// the core could not save them, as after a stack overflow. `sp` may be a thread's.
void pl_fault(void);

#endif  // BOARDS_COMMON_FAULT_H_
