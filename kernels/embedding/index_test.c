// SPDX-License-Identifier: Apache-2.0
// An index outside of the table is a status, and nothing is read or written for it.
#include "boards/common/print.h"
#include "kernels/embedding/embedding.h"

#define ROWS 3
#define WIDTH 5

static int check(int32_t index, pl_status expected) {
  static const int8_t kTable[ROWS * WIDTH] = {0};
  const int32_t indices[] = {ROWS - 1, index};
  int8_t output[2 * WIDTH];
  for (int i = 0; i < 2 * WIDTH; ++i) output[i] = 1;
  const pl_embedding_dims dims = {.count = 2, .rows = ROWS, .width = WIDTH};
  const pl_embedding_data data = {kTable, indices, output};
  const pl_status status = pl_embedding_x8(NULL, NULL, &dims, &data);
  const int8_t last = expected == PL_OK ? 0 : 1;
  if (status == expected && output[WIDTH] == last && output[2 * WIDTH - 1] == last) return 0;
  pl_print("index ");
  pl_print_i32(index);
  pl_print(" gives ");
  pl_print(pl_status_name(status));
  pl_print("\n");
  return 1;
}

int main(void) {
  int failures = check(0, PL_OK) + check(ROWS - 1, PL_OK);
  failures += check(ROWS, PL_ERROR_INDEX) + check(-1, PL_ERROR_INDEX);
  failures += check(INT32_MIN, PL_ERROR_INDEX) + check(INT32_MAX, PL_ERROR_INDEX);
  pl_print(failures == 0 ? "PL:PASS\n" : "PL:FAIL\n");
  return failures != 0;
}
