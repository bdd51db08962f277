// SPDX-License-Identifier: Apache-2.0
//
// USART of NXP's LPC54 and LPC55, in a Flexcomm. Clocks and the pin are the board's `writes`.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  CFG = 0x000,
  STAT = 0x008,
  BRG = 0x020,
  OSR = 0x028,
  FIFOCFG = 0xe00,
  FIFOSTAT = 0xe04,
  FIFOWR = 0xe20,
  FIFORD = 0xe30,
  PSELID = 0xff8,
};

enum {
  PSELID_USART = 1,
  CFG_ENABLE = 1 << 0,
  CFG_8_BITS = 1 << 2,
  STAT_TX_IDLE = 1 << 3,
  FIFOCFG_ENABLE_TX = 1 << 0,
  FIFOCFG_ENABLE_RX = 1 << 1,
  FIFOSTAT_TX_EMPTY = 1 << 4,
  FIFOSTAT_TX_NOT_FULL = 1 << 5,
  FIFOSTAT_RX_NOT_EMPTY = 1 << 6,
  OSR_SHIFT = 16,  // in the board's number: samples of a bit, stored above the divider
  BRG_MASK = 0xffff,
};

static volatile uint32_t *at(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

static bool wait_for(uint32_t offset, uint32_t bit) {
  return pl_console_wait(at(offset), bit, bit);
}

void pl_console_init(void) {
  const uint32_t baud = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *at(PSELID) = PSELID_USART;
  *at(OSR) = baud >> OSR_SHIFT;
  *at(BRG) = baud & BRG_MASK;
  *at(FIFOCFG) = FIFOCFG_ENABLE_TX;
  *at(CFG) = CFG_8_BITS | CFG_ENABLE;
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (!wait_for(FIFOSTAT, FIFOSTAT_TX_NOT_FULL)) return;
    *at(FIFOWR) = (uint8_t)text[i];
  }
}

uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  *at(FIFOCFG) = FIFOCFG_ENABLE_TX | FIFOCFG_ENABLE_RX;
  while (count < length && (*at(FIFOSTAT) & FIFOSTAT_RX_NOT_EMPTY) != 0) {
    text[count++] = (char)*at(FIFORD);
  }
  return count;
}

void pl_console_flush(void) {
  (void)(wait_for(FIFOSTAT, FIFOSTAT_TX_EMPTY) && wait_for(STAT, STAT_TX_IDLE));
}
