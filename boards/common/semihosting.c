// SPDX-License-Identifier: Apache-2.0
#include "boards/common/semihosting.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  SYS_EXIT_EXTENDED = 0x20,
  ADP_STOPPED_APPLICATION_EXIT = 0x20026,
};

// Label of the request below.
extern const uint8_t pl_semihosting_request[];

// Not inlined: the label may exist once only.
__attribute__((noinline)) void pl_semihosting_exit(int status) {
  const uint32_t arguments[] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)status};
  register uint32_t operation __asm__("r0") = SYS_EXIT_EXTENDED;
  register const uint32_t *parameters __asm__("r1") = arguments;
  __asm__ volatile(
      ".global pl_semihosting_request\n"
      "pl_semihosting_request:\n\t"
      "bkpt 0xab"
      : "+r"(operation)
      : "r"(parameters)
      : "memory");
  pl_sleep();
}

bool pl_semihosting_is_at(uint32_t pc) { return pc == (uint32_t)(uintptr_t)pl_semihosting_request; }

void pl_sleep(void) {
  for (;;) {
    __asm__ volatile("wfi");
  }
}
