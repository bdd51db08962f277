// SPDX-License-Identifier: Apache-2.0
#include "boards/common/console.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void pl_console_init(void) {}

void pl_console_write(const char *text, uint32_t length) { fwrite(text, 1, length, stdout); }

uint32_t pl_console_read(char *text, uint32_t length) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  fflush(stdout);
  if (poll(&input, 1, 0) <= 0) return 0;
  const ssize_t count = read(STDIN_FILENO, text, length);
  return count < 0 ? 0 : (uint32_t)count;
}

void pl_console_flush(void) { fflush(stdout); }

void pl_exit(int status) { exit(status); }
