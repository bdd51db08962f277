// SPDX-License-Identifier: Apache-2.0
// Short rows in a strip: all rows taken together fit into it, for every size.
#include <stdint.h>

#include "boards/common/expect.h"
#include "kernels/common/operands_mve.h"

#define GUARD 77

static void test_rows_of(int32_t size, int32_t step) {
  int8_t values[PL_SHORT_ROW + 1];
  for (int32_t i = 0; i <= PL_SHORT_ROW; ++i) values[i] = (int8_t)(i + 1);
  struct {
    pl_strip_s8 strip;
    int8_t behind[16];
  } memory;
  for (int32_t i = 0; i < 16; ++i) memory.behind[i] = GUARD;
  const int32_t rows = PL_STRIP / size;
  const int8_t *strip = pl_strip_of_s8(values, step, 0, size, rows, &memory.strip);
  EXPECT(strip == memory.strip.bytes);
  for (int32_t i = 0; i < rows * size; ++i) {
    EXPECT_EQUAL(strip[i], step == 0 ? 1 : i % size + 1);
  }
  for (int32_t i = 0; i < 16; ++i) EXPECT_EQUAL(memory.behind[i], GUARD);
}

int main(void) {
  for (int32_t size = 1; size <= PL_SHORT_ROW; ++size) {
    test_rows_of(size, 0);
    test_rows_of(size, 1);
  }
  return expect_report();
}
