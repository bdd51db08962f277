// SPDX-License-Identifier: Apache-2.0
//
// Expected outputs, and the first unexpected element.
#include "firmware/apps/compare.h"

#include <math.h>
#include <stdint.h>

#include "boards/common/expect.h"

static pl_tensor tensor_of(pl_dtype dtype, void *data, uint32_t bytes) {
  const pl_tensor_spec spec = {dtype, PL_LAYOUT_ROW_MAJOR, 1, {1}, 0.5F, 0, bytes};
  return (pl_tensor){spec, data};
}

static uint32_t bits(pl_dtype dtype, void *actual, const void *expected, uint32_t bytes) {
  const pl_tensor tensor = tensor_of(dtype, actual, bytes);
  return pl_compare_bits(&tensor, expected);
}

static uint32_t close_to(pl_dtype dtype, void *actual, const void *expected, uint32_t bytes) {
  const pl_tensor tensor = tensor_of(dtype, actual, bytes);
  return pl_compare_close(&tensor, expected);
}

static void test_integers(void) {
  int8_t narrow[] = {-128, 0, 127};
  const int8_t near[] = {-127, 1, 126};
  const int8_t wraps[] = {127, 0, 127};
  EXPECT_EQUAL(bits(PL_DTYPE_INT8, narrow, narrow, 3), 3);
  EXPECT_EQUAL(bits(PL_DTYPE_INT8, narrow, near, 3), 0);
  EXPECT_EQUAL(close_to(PL_DTYPE_INT8, narrow, near, 3), 3);
  EXPECT_EQUAL(close_to(PL_DTYPE_INT8, narrow, wraps, 3), 0);
  int16_t wide[] = {-300, 300, 5};
  const int16_t other[] = {-300, 301, 7};
  EXPECT_EQUAL(bits(PL_DTYPE_INT16, wide, other, 6), 1);
  EXPECT_EQUAL(close_to(PL_DTYPE_INT16, wide, other, 6), 2);
  int32_t indices[] = {4, 5};
  const int32_t next[] = {4, 6};
  EXPECT_EQUAL(close_to(PL_DTYPE_INT32, indices, next, 8), 1);
}

static void test_floats(void) {
  float actual[] = {1.0F, -100.009F, 0.009F, INFINITY, NAN};
  const float expected[] = {1.001F, -100.0F, 0.0F, INFINITY, NAN};
  EXPECT_EQUAL(bits(PL_DTYPE_FLOAT32, actual, expected, sizeof actual), 0);
  EXPECT_EQUAL(close_to(PL_DTYPE_FLOAT32, actual, expected, sizeof actual), 5);
  actual[1] = -100.02F;
  EXPECT_EQUAL(close_to(PL_DTYPE_FLOAT32, actual, expected, sizeof actual), 1);
  actual[1] = NAN;
  EXPECT_EQUAL(close_to(PL_DTYPE_FLOAT32, actual, expected, sizeof actual), 1);
  actual[1] = -100.0F;
  actual[3] = -INFINITY;
  EXPECT_EQUAL(close_to(PL_DTYPE_FLOAT32, actual, expected, sizeof actual), 3);
  actual[3] = INFINITY;
  actual[4] = 0.0F;
  EXPECT_EQUAL(close_to(PL_DTYPE_FLOAT32, actual, expected, sizeof actual), 4);
}

int main(void) {
  test_integers();
  test_floats();
  return expect_report();
}
