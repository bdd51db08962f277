// SPDX-License-Identifier: Apache-2.0
//
// USART of Microchip's SAMD21, a function of a SERCOM. Clocks, pins and pads are the board's
// `writes` and the chip's `init`. Source: SAM D21 Data Sheet, "SERCOM USART".
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  CTRLA = 0x00,
  CTRLB = 0x04,
  BAUD = 0x0c,     // 16 bits
  INTFLAG = 0x18,  // 8 bits
  SYNCBUSY = 0x1c,
  DATA = 0x28,  // 16 bits
};

enum {
  CTRLA_ENABLE = 1 << 1,
  CTRLB_TX_ENABLE = 1 << 16,
  CTRLB_RX_ENABLE = 1 << 17,
  INTFLAG_EMPTY = 1 << 0,
  INTFLAG_SENT = 1 << 1,
  INTFLAG_RECEIVED = 1 << 2,
};

static volatile uint32_t *at(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

static volatile uint16_t *half_at(uint32_t offset) { return (volatile uint16_t *)at(offset); }

static bool wait_for(uint32_t bit) { return pl_console_wait(at(INTFLAG), bit, bit); }

// Writes a register that another clock takes over.
static void store(uint32_t offset, uint32_t value) {
  *at(offset) = value;
  (void)pl_console_wait(at(SYNCBUSY), UINT32_MAX, 0);
}

void pl_console_init(void) {
  *half_at(BAUD) = (uint16_t)(uintptr_t)pl_link_uart_baud;
  store(CTRLB, CTRLB_TX_ENABLE);
  store(CTRLA, *at(CTRLA) | CTRLA_ENABLE);
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (!wait_for(INTFLAG_EMPTY)) return;
    *half_at(DATA) = (uint8_t)text[i];
  }
}

uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  if ((*at(CTRLB) & CTRLB_RX_ENABLE) == 0) store(CTRLB, CTRLB_TX_ENABLE | CTRLB_RX_ENABLE);
  while (count < length && (*at(INTFLAG) & INTFLAG_RECEIVED) != 0) {
    text[count++] = (char)*half_at(DATA);
  }
  return count;
}

void pl_console_flush(void) { (void)wait_for(INTFLAG_SENT); }
