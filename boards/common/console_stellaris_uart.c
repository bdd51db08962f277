// SPDX-License-Identifier: Apache-2.0
//
// UART of TI's Stellaris: Arm's PL011. Its baud rate register counts in parts of 64.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/link_symbols.h"

#define RCGC_UARTS 0x400fe104u
#define RCGC_PORTS 0x400fe108u
#define UART_0 0x4000c000u
#define PORT_A 0x40004000u  // B to D follow
#define PORT_E 0x40024000u  // F and G follow

enum {
  BLOCK_LOG2 = 12,  // bytes of addresses that a peripheral takes
  PINS = 16,        // of a port, as boards/board.bzl counts them
  PORTS_FROM_A = 4,

  GPIO_AFSEL = 0x420,
  GPIO_DEN = 0x51c,
};

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
  FR_TX_FULL = 1 << 5,
  LCRH_8_BITS = 3 << 5,
  CTL_ENABLE = 1 << 0,
  CTL_TX_ENABLE = 1 << 8,
  FRACTION_LOG2 = 6,
};

static volatile uint32_t *at(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

static uint32_t base(void) { return (uint32_t)(uintptr_t)pl_link_uart_base; }

static void connect_pin(void) {
  const uint32_t number = (uint32_t)(uintptr_t)pl_link_uart_pin;
  const uint32_t port = number / PINS;
  const uint32_t gpio = port < PORTS_FROM_A ? PORT_A + (port << BLOCK_LOG2)
                                            : PORT_E + ((port - PORTS_FROM_A) << BLOCK_LOG2);
  *at(RCGC_PORTS) |= 1u << port;
  (void)*at(RCGC_PORTS);  // the port needs a moment
  *at(gpio + GPIO_AFSEL) |= 1u << number % PINS;
  *at(gpio + GPIO_DEN) |= 1u << number % PINS;
}

void pl_console_init(void) {
  const uint32_t baud = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *at(RCGC_UARTS) |= 1u << ((base() - UART_0) >> BLOCK_LOG2);
  connect_pin();
  *at(base() + IBRD) = baud >> FRACTION_LOG2;
  *at(base() + FBRD) = baud & ((1u << FRACTION_LOG2) - 1);
  *at(base() + LCRH) = LCRH_8_BITS;
  *at(base() + CTL) = CTL_ENABLE | CTL_TX_ENABLE;
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    while ((*at(base() + FR) & FR_TX_FULL) != 0) {
    }
    *at(base() + DR) = (uint8_t)text[i];
  }
}

void pl_console_flush(void) {
  while ((*at(base() + FR) & FR_BUSY) != 0) {
  }
}
