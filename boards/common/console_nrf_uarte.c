// SPDX-License-Identifier: Apache-2.0
//
// UARTE of Nordic's nRF52, nRF53 and nRF91. It reads its output by DMA, from RAM only.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/console_wait.h"
#include "boards/common/link_symbols.h"

enum {
  TASKS_STARTRX = 0x000,
  TASKS_STARTTX = 0x008,
  EVENTS_ENDRX = 0x110,
  EVENTS_ENDTX = 0x120,
  ENABLE = 0x500,
  PSEL_TXD = 0x50c,
  PSEL_RXD = 0x514,
  BAUDRATE = 0x524,
  RXD_PTR = 0x534,
  RXD_MAXCNT = 0x538,
  TXD_PTR = 0x544,
  TXD_MAXCNT = 0x548,
};

enum { ENABLE_UARTE = 8, PIECE = 32 };

static volatile uint32_t *uart(uint32_t offset) {
  return (volatile uint32_t *)((uintptr_t)pl_link_uart_base + offset);
}

// Enables both pins: they can only change while the UART is off, and sent bytes must not be lost.
void pl_console_init(void) {
  *uart(PSEL_TXD) = (uint32_t)(uintptr_t)pl_link_uart_pin;
  *uart(PSEL_RXD) = (uint32_t)(uintptr_t)pl_link_uart_rx_pin;
  *uart(BAUDRATE) = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *uart(RXD_MAXCNT) = 0;
  *uart(ENABLE) = ENABLE_UARTE;
}

// Waits until each part has been sent, so nothing is left for pl_console_flush.
void pl_console_write(const char *text, uint32_t length) {
  volatile char piece[PIECE];  // text may lie in flash
  while (length > 0) {
    const uint32_t count = length < PIECE ? length : PIECE;
    for (uint32_t i = 0; i < count; ++i) {
      piece[i] = text[i];
    }
    *uart(EVENTS_ENDTX) = 0;
    *uart(TXD_PTR) = (uint32_t)(uintptr_t)piece;
    *uart(TXD_MAXCNT) = count;
    *uart(TASKS_STARTTX) = 1;
    if (!pl_console_wait(uart(EVENTS_ENDTX), 1, 1)) return;
    text += count;
    length -= count;
  }
}

static volatile char received;  // by DMA, one byte; more wait in the UARTE

// Not before somebody reads: a receiver keeps the clock of high frequency running.
static void receive(void) {
  *uart(RXD_PTR) = (uint32_t)(uintptr_t)&received;
  *uart(RXD_MAXCNT) = 1;
  *uart(TASKS_STARTRX) = 1;
}

uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  if (*uart(RXD_MAXCNT) == 0 && (uintptr_t)pl_link_uart_rx_pin != PL_NO_RX_PIN) receive();
  while (count < length && *uart(EVENTS_ENDRX) != 0) {
    *uart(EVENTS_ENDRX) = 0;
    text[count++] = received;
    *uart(TASKS_STARTRX) = 1;
  }
  return count;
}

void pl_console_flush(void) {}
