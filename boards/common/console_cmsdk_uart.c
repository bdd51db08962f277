// SPDX-License-Identifier: Apache-2.0
//
// APB UART of Arm's Cortex-M System Design Kit, as on the MPS2 and MPS3 boards.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  DATA = 0x00,
  STATE = 0x04,
  CTRL = 0x08,
  BAUDDIV = 0x10,
};

enum {
  STATE_TX_FULL = 1 << 0,
  STATE_RX_FULL = 1 << 1,
  CTRL_TX_ENABLE = 1 << 0,
  CTRL_RX_ENABLE = 1 << 1,
};

static volatile uint32_t *uart(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

void pl_console_init(void) {
  *uart(BAUDDIV) = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *uart(CTRL) = CTRL_TX_ENABLE;
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (!pl_console_wait(uart(STATE), STATE_TX_FULL, 0)) return;
    *uart(DATA) = (uint8_t)text[i];
  }
}

uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  *uart(CTRL) = CTRL_TX_ENABLE | CTRL_RX_ENABLE;
  while (count < length && (*uart(STATE) & STATE_RX_FULL) != 0) {
    text[count++] = (char)*uart(DATA);
  }
  return count;
}

void pl_console_flush(void) { (void)pl_console_wait(uart(STATE), STATE_TX_FULL, 0); }
