// SPDX-License-Identifier: Apache-2.0
//
// Arm's PL011: of RP2040 and RP2350, TI's Stellaris, Arm's Musca. Its baud rate register counts in
// parts of 64. Clocks and the pin are the board's `writes`.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  DR = 0x00,
  FR = 0x18,
  IBRD = 0x24,
  FBRD = 0x28,
  LCRH = 0x2c,
  CTL = 0x30,
};

enum {
  FR_BUSY = 1 << 3,
  FR_RX_EMPTY = 1 << 4,
  FR_TX_FULL = 1 << 5,
  LCRH_FIFO = 1 << 4,
  LCRH_8_BITS = 3 << 5,
  CTL_ENABLE = 1 << 0,
  CTL_TX_ENABLE = 1 << 8,
  CTL_RX_ENABLE = 1 << 9,
  FRACTION_LOG2 = 6,
};

static volatile uint32_t *at(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

// Settings can only change while the UART is off, and sent bytes must not be lost. The receiver is
// therefore on from the start, if there is one.
void pl_console_init(void) {
  const bool receives = (uintptr_t)pl_link_uart_rx_pin != PL_NO_RX_PIN;
  const uint32_t baud = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *at(IBRD) = baud >> FRACTION_LOG2;
  *at(FBRD) = baud & ((1u << FRACTION_LOG2) - 1);
  *at(LCRH) = LCRH_8_BITS | LCRH_FIFO;
  *at(CTL) = CTL_ENABLE | CTL_TX_ENABLE | (receives ? CTL_RX_ENABLE : 0u);
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (!pl_console_wait(at(FR), FR_TX_FULL, 0)) return;
    *at(DR) = (uint8_t)text[i];
  }
}

uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  while (count < length && (*at(FR) & FR_RX_EMPTY) == 0) {
    text[count++] = (char)*at(DR);
  }
  return count;
}

void pl_console_flush(void) { (void)pl_console_wait(at(FR), FR_BUSY, 0); }
