// SPDX-License-Identifier: Apache-2.0
//
// Prints standard input, up to a full stop or its end.
#include <stdio.h>

int main(void) {
  (void)puts("listening");
  int character = 0;
  do {
    character = getchar();
    if (character != EOF) (void)putchar(character);
  } while (character != '.' && character != EOF);
  (void)puts(character == EOF ? "no more\nPL:PASS" : "\nPL:PASS");
  return 0;
}
