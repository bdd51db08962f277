// SPDX-License-Identifier: Apache-2.0
#include "boards/common/expect.h"

#include "boards/common/print.h"

static int failures;

static void print_line(int line) {
  pl_print("line ");
  pl_print_i32(line);
  pl_print(": ");
}

void expect(bool holds, const char *condition, int line) {
  if (holds) {
    return;
  }
  ++failures;
  print_line(line);
  pl_print(condition);
  pl_print("\n");
}

void expect_equal(long long actual, long long expected, const char *what, int line) {
  if (actual == expected) {
    return;
  }
  ++failures;
  print_line(line);
  pl_print(what);
  pl_print(" is ");
  pl_print_i32((int)actual);
  pl_print(", expected ");
  pl_print_i32((int)expected);
  pl_print("\n");
}

int expect_report(void) {
  pl_print(failures == 0 ? "PL:PASS\n" : "PL:FAIL\n");
  return failures == 0 ? 0 : 1;
}
