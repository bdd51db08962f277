// SPDX-License-Identifier: Apache-2.0
//
// SCI of Renesas' RA8, in its asynchronous mode with six samples of a bit. Clocks and the pin are
// the chip's.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  RDR = 0x00,
  TDR = 0x04,
  CCR0 = 0x08,
  CCR1 = 0x0c,
  CCR2 = 0x10,
  CCR3 = 0x14,
  CCR4 = 0x18,
  CSR = 0x48,
  CFCLR = 0x68,
};

enum {
  CCR0_RECEIVE = 1 << 0,
  CCR0_TRANSMIT = 1 << 4,
  CCR1_IDLE_IS_HIGH = 3 << 4,
  CCR3_EIGHT_BITS = 2 << 8,
  CCR3_LOWEST_FIRST = 1 << 12,
  CSR_OVERRUN = 1 << 24,
  CSR_EMPTY = 1 << 29,
  CSR_SENT = 1 << 30,
};

static const uint32_t CSR_RECEIVED = 1u << 31;

static volatile uint32_t *at(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

static bool wait_for(uint32_t bit) { return pl_console_wait(at(CSR), bit, bit); }

// Both directions must be enabled at once, and sent bytes must not be lost. The receiver is
// therefore on from the start.
void pl_console_init(void) {
  *at(CCR0) = 0;
  *at(CCR3) = CCR3_EIGHT_BITS | CCR3_LOWEST_FIRST;
  *at(CCR2) = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *at(CCR1) = CCR1_IDLE_IS_HIGH;
  *at(CCR4) = 0;
  *at(CCR0) = CCR0_TRANSMIT | CCR0_RECEIVE;
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (!wait_for(CSR_EMPTY)) return;
    *at(TDR) = (uint8_t)text[i];
  }
}

// Nothing is received while an overrun is noted.
uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  if ((*at(CSR) & CSR_OVERRUN) != 0) *at(CFCLR) = CSR_OVERRUN;
  while (count < length && (*at(CSR) & CSR_RECEIVED) != 0) {
    text[count++] = (char)*at(RDR);
  }
  return count;
}

void pl_console_flush(void) { (void)wait_for(CSR_SENT); }
