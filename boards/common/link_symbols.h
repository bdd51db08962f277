// SPDX-License-Identifier: Apache-2.0
//
// Symbols defined by the linker script (boards/common/linker_script.py). Only their addresses have
// a meaning: a position or, if documented, a number from the board's data.
#ifndef BOARDS_COMMON_LINK_SYMBOLS_H_
#define BOARDS_COMMON_LINK_SYMBOLS_H_

#include <stdint.h>

// Initialised data: where the values are stored and where they are copied to at start.
extern const uint32_t pl_link_data_load[];
extern uint32_t pl_link_data_start[];
extern uint32_t pl_link_data_end[];

// Data that starts as zero.
extern uint32_t pl_link_bss_start[];
extern uint32_t pl_link_bss_end[];

// Stack of exception handlers, and the program's. Both grow down, from `top` to `limit`.
extern uint32_t pl_link_handler_stack_limit[];
extern uint32_t pl_link_handler_stack_top[];
extern uint32_t pl_link_stack_limit[];
extern uint32_t pl_link_stack_top[];

// Functions to call before main, in this order (C++'s constructors), and memory for malloc.
extern void (*const pl_link_constructors_start[])(void);
extern void (*const pl_link_constructors_end[])(void);
extern uint8_t pl_link_heap_start[];
extern uint8_t pl_link_heap_end[];

// Register writes at start, three words each (boards/common/startup.c).
extern const uint32_t pl_link_writes_start[];
extern const uint32_t pl_link_writes_end[];

// All RAM, two words each: base and bytes.
extern const uint32_t pl_link_rams_start[];
extern const uint32_t pl_link_rams_end[];

// Number: the part number in the core's CPUID register.
extern uint8_t pl_link_core_part[];

// The console's UART: its registers; numbers: value of its baud rate register, transmit pin,
// receive pin. The receive pin is PL_NO_RX_PIN if the console cannot receive, 0 if it needs no pin.
// Registers are declared as words. Otherwise cores without unaligned accesses would read and write
// bytes.
#define PL_NO_RX_PIN UINT32_MAX
extern uint32_t pl_link_uart_base[];
extern uint8_t pl_link_uart_baud[];
extern uint8_t pl_link_uart_pin[];
extern uint8_t pl_link_uart_rx_pin[];

// The periodic timer: its registers; numbers: its clock in Hz, its interrupt.
extern uint32_t pl_link_timer_base[];
extern uint8_t pl_link_timer_clock[];
extern uint8_t pl_link_timer_irq[];

#endif  // BOARDS_COMMON_LINK_SYMBOLS_H_
