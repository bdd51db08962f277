// SPDX-License-Identifier: Apache-2.0
// Checks for test programs that print what failed and count it.
#ifndef FIRMWARE_ETHOS_U_TESTING_CHECK_H_
#define FIRMWARE_ETHOS_U_TESTING_CHECK_H_

#include <stdbool.h>

// For variables too large for a board's data memory; they start with undefined contents.
#define LARGE_MEMORY __attribute__((section(".bss.pl_arena.sram")))

// Prints the line and the condition if it does not hold.
void check(bool holds, const char *condition, int line);
void check_equal(long long actual, long long expected, const char *what, int line);

#define CHECK(condition) check((condition), #condition, __LINE__)
#define CHECK_EQUAL(actual, expected) \
  check_equal((long long)(actual), (long long)(expected), #actual, __LINE__)

// Prints PL:PASS or PL:FAIL. The result is main's.
int check_report(void);

#endif  // FIRMWARE_ETHOS_U_TESTING_CHECK_H_
