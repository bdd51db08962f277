// SPDX-License-Identifier: Apache-2.0
//
// UART of Nordic's nRF51 series.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  TASKS_STARTRX = 0x000,
  TASKS_STARTTX = 0x008,
  EVENTS_RXDRDY = 0x108,
  EVENTS_TXDRDY = 0x11c,
  ENABLE = 0x500,
  PSELTXD = 0x50c,
  PSELRXD = 0x514,
  RXD = 0x518,
  TXD = 0x51c,
  BAUDRATE = 0x524,
};

enum { ENABLE_UART = 4 };

static volatile uint32_t *uart(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

// Enables both pins: they can only change while the UART is off, and sent bytes must not be lost.
void pl_console_init(void) {
  *uart(PSELTXD) = (uint32_t)(uintptr_t)pl_link_uart_pin;
  *uart(PSELRXD) = (uint32_t)(uintptr_t)pl_link_uart_rx_pin;
  *uart(BAUDRATE) = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *uart(ENABLE) = ENABLE_UART;
  *uart(TASKS_STARTTX) = 1;
  if ((uintptr_t)pl_link_uart_rx_pin != PL_NO_RX_PIN) *uart(TASKS_STARTRX) = 1;
}

// Waits until each byte has been sent, so nothing is left for pl_console_flush.
void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    *uart(EVENTS_TXDRDY) = 0;
    *uart(TXD) = (uint8_t)text[i];
    if (!pl_console_wait(uart(EVENTS_TXDRDY), 1, 1)) return;
  }
}

uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  while (count < length && *uart(EVENTS_RXDRDY) != 0) {
    *uart(EVENTS_RXDRDY) = 0;
    text[count++] = (char)*uart(RXD);
  }
  return count;
}

void pl_console_flush(void) {}
