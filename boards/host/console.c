// SPDX-License-Identifier: Apache-2.0
#include "boards/common/console.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <unistd.h>

void pl_console_init(void) {}

void pl_console_write(const char *text, uint32_t length) { fwrite(text, 1, length, stdout); }

uint32_t pl_console_read(char *text, uint32_t length) {
  fd_set input;
  struct timeval no_time = {0, 0};
  FD_ZERO(&input);
  FD_SET(STDIN_FILENO, &input);
  fflush(stdout);
  if (select(STDIN_FILENO + 1, &input, NULL, NULL, &no_time) <= 0) return 0;
  const ssize_t count = read(STDIN_FILENO, text, length);
  return count < 0 ? 0 : (uint32_t)count;
}

void pl_console_flush(void) { fflush(stdout); }

void pl_exit(int status) { exit(status); }
