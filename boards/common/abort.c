// SPDX-License-Identifier: Apache-2.0
//
// Handlers of C's assert and abort. They replace those of the C library, which print with stdio.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/print.h"

void __assert_func(const char *file, int line, const char *function, const char *expression);
void abort(void);

// Called by <assert.h>.
__attribute__((noreturn)) void __assert_func(const char *file, int line, const char *function,
                                             const char *expression) {
  pl_print("\nPL:FAIL ");
  pl_print(file);
  pl_print(":");
  pl_print_i32(line);
  pl_print(": ");
  if (function != 0) {
    pl_print(function);
    pl_print(": ");
  }
  pl_print("assertion failed: ");
  pl_print(expression);
  pl_print("\n");
  pl_exit(1);
}

__attribute__((noreturn)) void abort(void) {
  pl_print("\nPL:FAIL abort\n");
  pl_exit(1);
}
