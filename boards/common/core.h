// SPDX-License-Identifier: Apache-2.0
#ifndef BOARDS_COMMON_CORE_H_
#define BOARDS_COMMON_CORE_H_

#include <stdbool.h>

// Returns true if the core matches the image and has its floating point and vector units. If not,
// it prints a line on the console.
bool pl_core_is_right(void);

#endif  // BOARDS_COMMON_CORE_H_
