// SPDX-License-Identifier: Apache-2.0
//
// Each of these warnings would stop the build of Pilotlight's own code.
#include "boards/tests/product/vendor.h"

int vendor_version() { return 1; }

static int unused;

int vendor_checksum(const unsigned char *data, int size) {
  unsigned short sum = 0;
  for (unsigned i = 0; i < size; i++) {
    int size = data[i];
    sum += size;
  }
  return sum;
}
