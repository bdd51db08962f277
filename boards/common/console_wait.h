// SPDX-License-Identifier: Apache-2.0
//
// Waits of consoles for their UART. A UART without a clock, or of another chip, must not block the
// program for ever. Only a console includes this.
#ifndef BOARDS_COMMON_CONSOLE_WAIT_H_
#define BOARDS_COMMON_CONSOLE_WAIT_H_

#include <stdbool.h>
#include <stdint.h>

// Turns of a loop: 0.2 s and more at 600 MHz, the highest clock, where 32 bytes take 3 ms.
enum { PL_CONSOLE_MOST_TURNS = 1 << 25 };

// Waits until bits of a register have a value. Returns true if they do. Only the first failure
// takes long. After it, each call reads the register once, until the UART is ready.
static inline bool pl_console_wait(volatile const uint32_t *place, uint32_t bits, uint32_t value) {
  static bool was_stuck;
  for (uint32_t turns = was_stuck ? 1 : PL_CONSOLE_MOST_TURNS; turns > 0; --turns) {
    if ((*place & bits) == value) {
      was_stuck = false;
      return true;
    }
  }
  was_stuck = true;
  return false;
}

#endif  // BOARDS_COMMON_CONSOLE_WAIT_H_
