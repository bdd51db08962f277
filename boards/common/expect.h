// SPDX-License-Identifier: Apache-2.0
//
// Expectations of test programs. A failed one is printed with its line, and counted.
#ifndef BOARDS_COMMON_EXPECT_H_
#define BOARDS_COMMON_EXPECT_H_

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXPECT(condition) expect((condition), #condition, __LINE__)
#define EXPECT_EQUAL(actual, expected) \
  expect_equal((long long)(actual), (long long)(expected), #actual, __LINE__)

void expect(bool holds, const char *condition, int line);
void expect_equal(long long actual, long long expected, const char *what, int line);

// Prints PL:PASS or PL:FAIL. The result is main's.
int expect_report(void);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_COMMON_EXPECT_H_
