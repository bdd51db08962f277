// SPDX-License-Identifier: Apache-2.0
//
// USART and UART of ST's STM32F4 series.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/link_symbols.h"

#define GPIO 0x40020000u  // of port A; the others follow
#define RCC_AHB1ENR 0x40023830u
#define RCC_APB1ENR 0x40023840u
#define RCC_APB2ENR 0x40023844u
#define APB1 0x40000000u
#define APB2 0x40010000u
#define USART1 0x40011000u
#define USART2 0x40004400u
#define USART3 0x40004800u

enum {
  BLOCK_LOG2 = 10,  // bytes of addresses that a peripheral takes
  PINS = 16,        // of a port

  GPIO_MODER = 0x00,
  GPIO_AFR = 0x20,
  MODE_MASK = 3,
  MODE_ALTERNATE = 2,
  FUNCTION_MASK = 15,
  FUNCTION_USART_1_TO_3 = 7,
  FUNCTION_UART_4_TO_6 = 8,
};

enum {
  SR = 0x00,
  DR = 0x04,
  BRR = 0x08,
  CR1 = 0x0c,
};

enum {
  SR_SENT = 1 << 6,
  SR_EMPTY = 1 << 7,
  CR1_TX_ENABLE = 1 << 3,
  CR1_ENABLE = 1 << 13,
};

static volatile uint32_t *at(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

static uint32_t base(void) { return (uint32_t)(uintptr_t)pl_link_uart_base; }

// A bit of the bus's clock register enables a peripheral: that of its place on the bus.
static void enable_clock(void) {
  if (base() >= APB2) {
    *at(RCC_APB2ENR) |= 1u << ((base() - APB2) >> BLOCK_LOG2);
  } else {
    *at(RCC_APB1ENR) |= 1u << ((base() - APB1) >> BLOCK_LOG2);
  }
}

static uint32_t pin_function(void) {
  const int is_usart_1_to_3 = base() == USART1 || base() == USART2 || base() == USART3;
  return is_usart_1_to_3 ? FUNCTION_USART_1_TO_3 : FUNCTION_UART_4_TO_6;
}

static void set_field(uint32_t address, uint32_t shift, uint32_t mask, uint32_t value) {
  *at(address) = (*at(address) & ~(mask << shift)) | value << shift;
}

static void connect_pin(void) {
  const uint32_t number = (uint32_t)(uintptr_t)pl_link_uart_pin;
  const uint32_t port = GPIO + ((number / PINS) << BLOCK_LOG2);
  const uint32_t pin = number % PINS;
  *at(RCC_AHB1ENR) |= 1u << (number / PINS);
  set_field(port + GPIO_AFR + pin / 8 * 4, pin % 8 * 4, FUNCTION_MASK, pin_function());
  set_field(port + GPIO_MODER, pin * 2, MODE_MASK, MODE_ALTERNATE);
}

void pl_console_init(void) {
  enable_clock();
  connect_pin();
  *at(base() + BRR) = (uint32_t)(uintptr_t)pl_link_uart_baud;
  *at(base() + CR1) = CR1_ENABLE | CR1_TX_ENABLE;
}

void pl_console_write(const char *text, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    while ((*at(base() + SR) & SR_EMPTY) == 0) {
    }
    *at(base() + DR) = (uint8_t)text[i];
  }
}

void pl_console_flush(void) {
  while ((*at(base() + SR) & SR_SENT) == 0) {
  }
}
