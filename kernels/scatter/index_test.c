// SPDX-License-Identifier: Apache-2.0
// An index outside of the rows is a status, and nothing is read or written for it.
#include "boards/common/print.h"
#include "kernels/scatter/scatter.h"

#define ROWS 3
#define WIDTH 5

static int fails(const char *name, int32_t index, pl_status status, pl_status expected) {
  if (status == expected) return 0;
  pl_print(name);
  pl_print(": index ");
  pl_print_i32(index);
  pl_print(" gives ");
  pl_print(pl_status_name(status));
  pl_print("\n");
  return 1;
}

static int check(int32_t index, pl_status expected) {
  static const int8_t kValues[2 * WIDTH] = {0};
  const int32_t indices[] = {ROWS - 1, index};
  int8_t output[ROWS * WIDTH];
  int32_t sums[ROWS * WIDTH];
  for (int i = 0; i < ROWS * WIDTH; ++i) output[i] = 1;
  const pl_context ctx = {.scratch = sums, .scratch_size = sizeof(sums)};
  const pl_scatter_params params = {.multiplier = 1 << 30, .shift = 1};
  const pl_scatter_dims dims = {.count = 2, .rows = ROWS, .width = WIDTH};
  const pl_scatter_data data = {output, indices, kValues, output};
  int failures = fails("scatter", index, pl_scatter_x8(NULL, NULL, &dims, &data), expected);
  if (output[2 * WIDTH - 1] != 1 || output[2 * WIDTH] != 0) ++failures;
  failures += fails("sum", index, pl_scatter_sum_s8(&ctx, &params, &dims, &data), expected);
  return failures;
}

int main(void) {
  int failures = check(0, PL_OK) + check(ROWS - 1, PL_OK);
  failures += check(ROWS, PL_ERROR_INDEX) + check(-1, PL_ERROR_INDEX);
  failures += check(INT32_MIN, PL_ERROR_INDEX) + check(INT32_MAX, PL_ERROR_INDEX);
  pl_print(failures == 0 ? "PL:PASS\n" : "PL:FAIL\n");
  return failures != 0;
}
