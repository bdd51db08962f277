// SPDX-License-Identifier: Apache-2.0
//
// Console on the screen of a debugger, or of a simulator: Arm "Semihosting for AArch32 and
// AArch64", SYS_WRITE0. The core stops for each piece; without a debugger it stops at the first one
// for ever.
#include <stdint.h>

#include "boards/common/console.h"

// A piece is as long as the stack of handlers allows on the smallest board.
enum { SYS_WRITE0 = 0x04, PIECE = 24 };

void pl_console_init(void) {}

static void request(uint32_t operation, const char *text) {
  register uint32_t r0 __asm__("r0") = operation;
  register const char *r1 __asm__("r1") = text;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void pl_console_write(const char *text, uint32_t length) {
  char piece[PIECE];
  for (uint32_t done = 0; done < length;) {
    uint32_t count = 0;
    for (; count < PIECE - 1 && done < length; ++done) {
      if (text[done] != '\0') piece[count++] = text[done];  // a zero ends the text
    }
    piece[count] = '\0';
    request(SYS_WRITE0, piece);
  }
}

void pl_console_flush(void) {}
