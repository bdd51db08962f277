// SPDX-License-Identifier: Apache-2.0
// Roots of squares and of their neighbours, of all sizes: results of int8 do not show the last
// bits.
#include "kernels/common/square_root.h"

#include "boards/common/expect.h"

static void expect_root(uint64_t x, uint32_t root) { EXPECT_EQUAL(pl_square_root(x), root); }

int main(void) {
  expect_root(0, 0);
  expect_root(UINT64_MAX, UINT32_MAX);
  uint32_t root = 1;
  for (int32_t i = 0; i < 4000; ++i) {
    const uint64_t square = (uint64_t)root * root;
    expect_root(square - 1, root - 1);
    expect_root(square, root);
    expect_root(square + root, root);
    expect_root(square + 2 * (uint64_t)root, root);
    root = root * 1664525u + 1013904223u;
    root >>= i % 31;
    root += root == 0;
  }
  return expect_report();
}
