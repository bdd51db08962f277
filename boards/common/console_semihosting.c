// SPDX-License-Identifier: Apache-2.0
//
// Console on the screen of a debugger, or of a simulator: Arm "Semihosting for AArch32 and
// AArch64", SYS_WRITE0 and SYS_READC. The core stops for each piece; without a debugger it stops at
// the first one for ever.
#include <stddef.h>
#include <stdint.h>

#include "boards/common/console.h"

// A piece is as long as the stack of handlers allows on the smallest board.
enum { SYS_WRITE0 = 0x04, SYS_READC = 0x07, PIECE = 24 };

void pl_console_init(void) {}

static uint32_t request(uint32_t operation, const char *text) {
  register uint32_t r0 __asm__("r0") = operation;
  register const char *r1 __asm__("r1") = text;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void pl_console_write(const char *text, uint32_t length) {
  char piece[PIECE];
  for (uint32_t done = 0; done < length;) {
    uint32_t count = 0;
    for (; count < PIECE - 1 && done < length; ++done) {
      if (text[done] != '\0') piece[count++] = text[done];  // a zero ends the text
    }
    piece[count] = '\0';
    (void)request(SYS_WRITE0, piece);
  }
}

// Waits for one byte: semihosting cannot check if one is there.
uint32_t pl_console_read(char *text, uint32_t length) {
  if (length == 0) return 0;
  text[0] = (char)request(SYS_READC, NULL);
  return 1;
}

void pl_console_flush(void) {}
