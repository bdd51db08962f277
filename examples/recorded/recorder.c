// SPDX-License-Identifier: Apache-2.0
//
// Prints samples of a 3-axis accelerometer, a line each, for calibration() of model.py.
#include <stdint.h>

#include "boards/common/print.h"

enum { AXES = 3, WINDOW = 64, WINDOWS = 6 };

// A swing in each axis, of another period; yours asks a device.
static int32_t read_sensor(uint32_t time, uint32_t axis) {
  const uint32_t phase = time * (2 * axis + 3) % 256;
  return phase < 128 ? (int32_t)phase - 64 : 191 - (int32_t)phase;
}

int main(void) {
  for (uint32_t time = 0; time < WINDOW * WINDOWS; ++time) {
    pl_print("REC");
    for (uint32_t axis = 0; axis < AXES; ++axis) {
      pl_print(" ");
      pl_print_i32(read_sensor(time, axis));
    }
    pl_print("\n");
  }
  pl_print("PL:PASS\n");
  return 0;
}
