// SPDX-License-Identifier: Apache-2.0
//
// USART and UART of ST's STM32F1, F2, F4 and L1.
// Clocks and the pin are the board's `writes`.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  STATUS = 0x00,  // SR
  DATA = 0x04,    // DR
  BRR = 0x08,
  CR1 = 0x0c,
};

enum {
  STATUS_OVERRUN = 1 << 3,
  STATUS_RECEIVED = 1 << 5,
  STATUS_SENT = 1 << 6,
  STATUS_EMPTY = 1 << 7,
  CR1_RX_ENABLE = 1 << 2,
  CR1_TX_ENABLE = 1 << 3,
  CR1_ENABLE = 1 << 13,
};

static volatile uint32_t *at(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

static bool wait_for(uint32_t bit) { return pl_console_wait(at(STATUS), bit, bit); }

void pl_console_init(void) {
  *at(BRR) = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *at(CR1) = CR1_ENABLE | CR1_TX_ENABLE;
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (!wait_for(STATUS_EMPTY)) return;
    *at(DATA) = (uint8_t)text[i];
  }
}

// An overrun flag blocks reception. A read of the status and then of the data clears it. A new
// overrun between those two reads leaves the flag set after the data is gone, so it is checked too.
uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  *at(CR1) = CR1_ENABLE | CR1_TX_ENABLE | CR1_RX_ENABLE;
  while (count < length) {
    const uint32_t status = *at(STATUS);
    if ((status & (STATUS_RECEIVED | STATUS_OVERRUN)) == 0) break;
    const char data = (char)*at(DATA);
    if ((status & STATUS_RECEIVED) != 0) text[count++] = data;
  }
  return count;
}

void pl_console_flush(void) { (void)wait_for(STATUS_SENT); }
