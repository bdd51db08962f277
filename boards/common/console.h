// SPDX-License-Identifier: Apache-2.0
//
// Text output of a board, and the exit of a program. Each board links one implementation: the
// host's standard output, or the driver of the UART in the board's data.
#ifndef BOARDS_COMMON_CONSOLE_H_
#define BOARDS_COMMON_CONSOLE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Reserved exit statuses. Programs use 0 for success and other small numbers for failure.
enum {
  PL_EXIT_FAULT = 125,  // an unexpected exception, or a stack overflow
};

// Prepares the console. The start-up code calls it once, before main.
void pl_console_init(void);

// Writes `length` bytes of `text`; returns when all are handed to the hardware. If the hardware
// accepts none for a time that is long for a UART, the rest is lost.
void pl_console_write(const char *text, uint32_t length);

// Takes the received bytes, at most `length`, and returns their number. It does not wait, except
// for one byte with semihosting. Bytes received before the first call may be lost. So are bytes
// received while the UART's own memory, of 1 to 32 bytes, is full. If the UART needs a receive pin
// and the board's data have none, the board receives nothing.
uint32_t pl_console_read(char *text, uint32_t length);

// Returns when everything written has left the device, or the hardware does not work.
void pl_console_flush(void);

// Ends the program. Under a simulator or a debugger with semihosting, `status` becomes the exit
// status on the host: 0 is success, 1..255 are failures. On bare silicon the core sleeps for ever.
// A stack overflow is reported here. It ends the program with PL_EXIT_FAULT regardless of the
// status.
__attribute__((noreturn)) void pl_exit(int status);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_COMMON_CONSOLE_H_
