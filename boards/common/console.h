// SPDX-License-Identifier: Apache-2.0
//
// Where a board's text goes and how a program ends. Each board links one implementation: the host's
// standard output, or the driver of the UART that the board's data name.
#ifndef BOARDS_COMMON_CONSOLE_H_
#define BOARDS_COMMON_CONSOLE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Exit statuses with a meaning of their own; programs use 0 for success and other small numbers for
// failure.
enum {
  PL_EXIT_FAULT = 125,  // an unexpected exception, or a stack that overflowed
};

// Prepares the console. The start-up code calls it once, before main.
void pl_console_init(void);

// Writes `length` bytes of `text`; returns when all are handed to the hardware. Where the hardware
// takes none for a time that is long for a UART, the others are lost.
void pl_console_write(const char *text, uint32_t length);

// Takes what has arrived, at most `length` bytes, and returns how many; waits for nothing, but by
// semihosting for one byte. What comes before the first call may be lost, and so is what comes
// while the UART's own memory, of 1 to 32 bytes, is full. A board whose data give no pin that
// receives, where the UART needs one, receives nothing.
uint32_t pl_console_read(char *text, uint32_t length);

// Returns when everything written has left the device, or the hardware does not work.
void pl_console_flush(void);

// Ends the program. Under a simulator or a debugger with semihosting `status` (0 is success, 1..255
// are failures) becomes the exit status on the host; on bare silicon the core sleeps for ever. A
// stack that overflowed is reported here, and ends the program with PL_EXIT_FAULT whatever the
// status.
__attribute__((noreturn)) void pl_exit(int status);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_COMMON_CONSOLE_H_
