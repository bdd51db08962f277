// SPDX-License-Identifier: Apache-2.0
#include "boards/common/console.h"
#include "boards/common/print.h"
#include "boards/common/semihosting.h"
#include "boards/common/stack.h"

void pl_exit(int status) {
  if (pl_stack_overflowed()) {
    pl_print("\nPL:FAULT StackOverflow\n");
    status = PL_EXIT_FAULT;
  }
  pl_console_flush();
  pl_semihosting_exit(status);
}
