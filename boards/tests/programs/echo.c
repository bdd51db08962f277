// SPDX-License-Identifier: Apache-2.0
//
// Prints what its console receives, up to a full stop: a board with Arm's CMSDK UART.
#include <stdint.h>

#include "boards/common/link_symbols.h"
#include "boards/common/print.h"

enum { DATA = 0x0, STATE = 0x4, CTRL = 0x8, STATE_RECEIVED = 1 << 1, CTRL_RECEIVE = 1 << 1 };

static volatile uint32_t *at(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

int main(void) {
  *at(CTRL) |= CTRL_RECEIVE;
  for (char text[] = " "; text[0] != '.';) {
    if ((*at(STATE) & STATE_RECEIVED) != 0) {
      text[0] = (char)*at(DATA);
      pl_print(text);
    }
  }
  pl_print("\nPL:PASS\n");
  return 0;
}
