// SPDX-License-Identifier: Apache-2.0
// The console of test programs built by test_mutation.py itself.
#include <stdio.h>

#include "boards/common/console.h"

void pl_console_write(const char *text, uint32_t length) { fwrite(text, 1, length, stdout); }
