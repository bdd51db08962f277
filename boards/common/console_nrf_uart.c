// SPDX-License-Identifier: Apache-2.0
//
// UART of Nordic's nRF51 series.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/link_symbols.h"

enum {
  TASKS_STARTTX = 0x008,
  EVENTS_TXDRDY = 0x11c,
  ENABLE = 0x500,
  PSELTXD = 0x50c,
  TXD = 0x51c,
  BAUDRATE = 0x524,
};

enum { ENABLE_UART = 4 };

static volatile uint32_t *uart(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

void pl_console_init(void) {
  *uart(PSELTXD) = (uint32_t)(uintptr_t)pl_link_uart_pin;
  *uart(BAUDRATE) = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *uart(ENABLE) = ENABLE_UART;
  *uart(TASKS_STARTTX) = 1;
}

// Waits until each byte has been sent, so that nothing is left for pl_console_flush.
void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    *uart(EVENTS_TXDRDY) = 0;
    *uart(TXD) = (uint8_t)text[i];
    while (*uart(EVENTS_TXDRDY) == 0) {
    }
  }
}

void pl_console_flush(void) {}
