// SPDX-License-Identifier: Apache-2.0
//
// UART of Analog Devices' MAX78000 and its relatives, clocked by the oscillator of 7.3728 MHz.
// Clocks and the pin are the board's `writes`.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  CTRL = 0x00,
  STATUS = 0x04,
  CLKDIV = 0x10,
  OSR = 0x14,
  FIFO = 0x20,
};

enum {
  CTRL_EIGHT_BITS = 3 << 10,
  CTRL_CLOCK_ENABLE = 1 << 15,
  CTRL_CLOCK_IBRO = 2 << 16,
  CTRL_CLOCK_READY = 1 << 19,
  STATUS_BUSY = 1 << 0,
  STATUS_NOTHING_RECEIVED = 1 << 4,
  STATUS_FULL = 1 << 7,
  SAMPLES = 5,
};

static volatile uint32_t *at(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

void pl_console_init(void) {
  *at(CTRL) = CTRL_EIGHT_BITS | CTRL_CLOCK_IBRO;
  *at(OSR) = SAMPLES;
  *at(CLKDIV) = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *at(CTRL) = CTRL_EIGHT_BITS | CTRL_CLOCK_IBRO | CTRL_CLOCK_ENABLE;
  (void)pl_console_wait(at(CTRL), CTRL_CLOCK_READY, CTRL_CLOCK_READY);
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (!pl_console_wait(at(STATUS), STATUS_FULL, 0)) return;
    *at(FIFO) = (uint8_t)text[i];
  }
}

// The receiver is always on.
uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  while (count < length && (*at(STATUS) & STATUS_NOTHING_RECEIVED) == 0) {
    text[count++] = (char)*at(FIFO);
  }
  return count;
}

void pl_console_flush(void) { (void)pl_console_wait(at(STATUS), STATUS_BUSY, 0); }
