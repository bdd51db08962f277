// SPDX-License-Identifier: Apache-2.0
#include "boards/common/console.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void pl_console_init(void) {}

void pl_console_write(const char *text, uint32_t length) { fwrite(text, 1, length, stdout); }

void pl_console_flush(void) { fflush(stdout); }

void pl_exit(int status) { exit(status); }
