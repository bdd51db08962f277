// SPDX-License-Identifier: Apache-2.0
//
// How C's assert and abort end a program, in place of the C library's own, which print with stdio.
#include <stdint.h>

#include "boards/common/console.h"
#include "boards/common/print.h"

void __assert_func(const char *file, int line, const char *function, const char *expression);
void abort(void);

// What <assert.h> calls.
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
