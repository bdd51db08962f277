// SPDX-License-Identifier: Apache-2.0
#include "boards/common/semihosting.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  SYS_EXIT_EXTENDED = 0x20,
  ADP_STOPPED_APPLICATION_EXIT = 0x20026,
};

// Operation in r0, its arguments at r1. The request is the function's first instruction.
__attribute__((naked)) static void request(__attribute__((unused)) uint32_t operation,
                                           __attribute__((unused)) const uint32_t *arguments) {
  __asm volatile(
      "bkpt 0xab\n\t"
      "bx lr");
}

void pl_semihosting_exit(int status) {
  const volatile uint32_t arguments[] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)status};
  request(SYS_EXIT_EXTENDED, (const uint32_t *)arguments);
  pl_sleep();
}

bool pl_semihosting_is_at(uint32_t pc) { return pc == ((uint32_t)(uintptr_t)request & ~1u); }

void pl_sleep(void) {
  for (;;) {
    __asm volatile("wfi");
  }
}
