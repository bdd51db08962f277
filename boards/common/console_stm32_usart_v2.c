// SPDX-License-Identifier: Apache-2.0
//
// USART and UART of ST's STM32 since F0, F3, F7, H7, L4.
// Clocks and the pin are the board's `writes`.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  CR1 = 0x00,
  BRR = 0x0c,
  STATUS = 0x1c,    // ISR
  CLEAR = 0x20,     // ICR
  RECEIVED = 0x24,  // RDR
  DATA = 0x28,      // TDR
};

enum {
  STATUS_OVERRUN = 1 << 3,
  STATUS_RECEIVED = 1 << 5,
  STATUS_SENT = 1 << 6,
  STATUS_EMPTY = 1 << 7,
  CR1_RX_ENABLE = 1 << 2,
  CR1_TX_ENABLE = 1 << 3,
  CR1_ENABLE = 1 << 0,
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

// Nothing is received while an overrun is noted.
uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  *at(CR1) = CR1_ENABLE | CR1_TX_ENABLE | CR1_RX_ENABLE;
  *at(CLEAR) = STATUS_OVERRUN;
  while (count < length && (*at(STATUS) & STATUS_RECEIVED) != 0) {
    text[count++] = (char)*at(RECEIVED);
  }
  return count;
}

void pl_console_flush(void) { (void)wait_for(STATUS_SENT); }
