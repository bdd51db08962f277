// SPDX-License-Identifier: Apache-2.0
//
// LPUART of NXP's i.MX RT. Clocks and the pin are the board's `writes`.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  BAUD = 0x10,
  STAT = 0x14,
  CTRL = 0x18,
  DATA = 0x1c,
};

enum {
  STAT_OVERRUN = 1 << 19,
  STAT_RECEIVED = 1 << 21,
  STAT_SENT = 1 << 22,
  STAT_EMPTY = 1 << 23,
  CTRL_RX_ENABLE = 1 << 18,
  CTRL_TX_ENABLE = 1 << 19,
};

static volatile uint32_t *at(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

static bool wait_for(uint32_t bit) { return pl_console_wait(at(STAT), bit, bit); }

// The baud rate must not change while it transmits.
void pl_console_init(void) {
  *at(CTRL) = 0;
  *at(BAUD) = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *at(CTRL) = CTRL_TX_ENABLE;
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (!wait_for(STAT_EMPTY)) return;
    *at(DATA) = (uint8_t)text[i];
  }
}

// Nothing is received while an overrun is noted.
uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  *at(CTRL) = CTRL_TX_ENABLE | CTRL_RX_ENABLE;
  *at(STAT) = STAT_OVERRUN;
  while (count < length && (*at(STAT) & STAT_RECEIVED) != 0) {
    text[count++] = (char)*at(DATA);
  }
  return count;
}

void pl_console_flush(void) { (void)wait_for(STAT_SENT); }
