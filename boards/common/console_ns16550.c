// SPDX-License-Identifier: Apache-2.0
//
// UART with the registers of National's 16550, each in a word, as DesignWare's in Alif's Ensemble.
// Clocks and the pin are the board's `writes`.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  THR = 0x00,  // divider, low byte, if LCR has LCR_DIVIDER; RBR when it is read
  IER = 0x04,  // and high byte
  FCR = 0x08,
  LCR = 0x0c,
  LSR = 0x14,
};

enum {
  FCR_FIFO_AND_EMPTY = 7,
  LCR_EIGHT_BITS = 3,
  LCR_DIVIDER = 1 << 7,
  LSR_RECEIVED = 1 << 0,
  LSR_EMPTY = 1 << 5,
  LSR_SENT = 1 << 6,
};

static volatile uint32_t *at(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

static bool wait_for(uint32_t bit) { return pl_console_wait(at(LSR), bit, bit); }

void pl_console_init(void) {
  const uint32_t divider = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *at(LCR) = LCR_EIGHT_BITS | LCR_DIVIDER;
  *at(THR) = divider & 0xff;
  *at(IER) = divider >> 8;
  *at(LCR) = LCR_EIGHT_BITS;
  *at(IER) = 0;
  *at(FCR) = FCR_FIFO_AND_EMPTY;
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (!wait_for(LSR_EMPTY)) return;
    *at(THR) = (uint8_t)text[i];
  }
}

// The receiver is always on.
uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  while (count < length && (*at(LSR) & LSR_RECEIVED) != 0) {
    text[count++] = (char)*at(THR);
  }
  return count;
}

void pl_console_flush(void) { (void)wait_for(LSR_SENT); }
