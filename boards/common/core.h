// SPDX-License-Identifier: Apache-2.0
#ifndef BOARDS_COMMON_CORE_H_
#define BOARDS_COMMON_CORE_H_

#include <stdbool.h>

// Whether the core is the one that the image is for, and has the units for floating point and
// vectors that it was compiled for; if not, a line on the console says so.
bool pl_core_is_right(void);

#endif  // BOARDS_COMMON_CORE_H_
