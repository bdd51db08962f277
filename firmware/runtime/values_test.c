// SPDX-License-Identifier: Apache-2.0
//
// Numbers to elements and back: known values, and properties of all values.
#include "firmware/runtime/values.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "boards/common/expect.h"

static pl_tensor tensor_of(pl_dtype dtype, float scale, int32_t zero_point, void *data,
                           uint32_t bytes) {
  const pl_tensor_spec spec = {dtype, PL_LAYOUT_ROW_MAJOR, 1, {1}, scale, zero_point, bytes};
  return (pl_tensor){spec, data};
}

static void test_known_numbers(void) {
  // Ties go to even; too large values are clamped; NaN is 0.
  const float values[] = {0.25f, 0.75f, 1.25f,  -0.25f,    -0.75f, 62.4f,
                          62.6f, 1e9f,  -65.6f, -INFINITY, NAN,    INFINITY};
  const int8_t expected[] = {3, 5, 5, 3, 1, 127, 127, 127, -128, -128, 3, 127};
  int8_t elements[12];
  const pl_tensor tensor = tensor_of(PL_DTYPE_INT8, 0.5f, 3, elements, sizeof elements);
  EXPECT(pl_tensor_size(&tensor) == 12);
  EXPECT(pl_quantize(&tensor, values) == PL_OK);
  for (uint32_t i = 0; i < 12; ++i) {
    EXPECT_EQUAL(elements[i], expected[i]);
  }
}

// Every element stands for a number that converts back to this element.
static void test_there_and_back(void) {
  static const float scales[] = {1.0f, 0.0078125f, 0.1f, 3.0e-5f, 12345.678f};
  for (uint32_t s = 0; s < 5; ++s) {
    for (int32_t q = INT16_MIN; q <= INT16_MAX; q += s == 0 ? 1 : 97) {
      int16_t wide = (int16_t)q;
      float value = 0;
      pl_tensor tensor = tensor_of(PL_DTYPE_INT16, scales[s], 0, &wide, 2);
      EXPECT(pl_dequantize(&tensor, &value) == PL_OK);
      EXPECT(value == (float)q * scales[s]);
      wide = 0;
      EXPECT(pl_quantize(&tensor, &value) == PL_OK);
      EXPECT_EQUAL(wide, q);
    }
    for (int32_t q = INT8_MIN; q <= INT8_MAX; ++q) {
      int8_t narrow = (int8_t)q;
      float value = 0;
      pl_tensor tensor = tensor_of(PL_DTYPE_INT8, scales[s], -128, &narrow, 1);
      EXPECT(pl_dequantize(&tensor, &value) == PL_OK);
      narrow = 0;
      EXPECT(pl_quantize(&tensor, &value) == PL_OK);
      EXPECT_EQUAL(narrow, q);
    }
  }
}

// A byte becomes the element for its number, and may alias the destination.
static void test_bytes(void) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint8_t bytes[] = {(uint8_t)i, (uint8_t)(255u - i)};
    int8_t elements[2];
    float numbers[2];
    const pl_tensor tensor = tensor_of(PL_DTYPE_INT8, 1, -128, elements, sizeof elements);
    const pl_tensor place = tensor_of(PL_DTYPE_INT8, 1, -128, bytes, sizeof bytes);
    EXPECT(pl_from_bytes(&tensor, bytes) == PL_OK);
    EXPECT(pl_dequantize(&tensor, numbers) == PL_OK);
    EXPECT(numbers[0] == (float)i && numbers[1] == (float)(255u - i));
    EXPECT(pl_from_bytes(&place, bytes) == PL_OK);
    EXPECT((int8_t)bytes[0] == elements[0] && (int8_t)bytes[1] == elements[1]);
  }
}

static void test_largest(void) {
  int8_t int8[] = {-5, 7, 7, -128};
  int16_t int16[] = {-300, -200, -200};
  int32_t int32[] = {1, 1 << 30, (1 << 30) + 1};
  float float32[] = {NAN, -2.0f, NAN, -1.0f, -1.0f};
  const struct {
    pl_tensor tensor;
    uint32_t best;
  } cases[] = {
      {tensor_of(PL_DTYPE_INT8, 1, 0, int8, sizeof int8), 1},
      {tensor_of(PL_DTYPE_INT16, 1, 0, int16, sizeof int16), 1},
      {tensor_of(PL_DTYPE_INT32, 0, 0, int32, sizeof int32), 2},
      {tensor_of(PL_DTYPE_FLOAT32, 0, 0, float32, sizeof float32), 3},
  };
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t best = 99;
    EXPECT(pl_argmax(&cases[i].tensor, &best) == PL_OK);
    EXPECT_EQUAL(best, cases[i].best);
  }
}

static void test_wrong_calls(void) {
  int32_t data = 7;
  float value = 1.0f;
  uint32_t index = 0;
  const pl_tensor integers = tensor_of(PL_DTYPE_INT32, 0, 0, &data, 4);
  const pl_tensor indices = tensor_of(PL_DTYPE_INT8, 0, 0, &data, 4);
  const pl_tensor truths = tensor_of(PL_DTYPE_BOOL, 0, 0, &data, 4);
  const pl_tensor nowhere = tensor_of(PL_DTYPE_INT8, 1, 0, NULL, 4);
  EXPECT(pl_quantize(&integers, &value) == PL_ERROR_INPUT_DTYPE);
  EXPECT(pl_quantize(&indices, &value) == PL_ERROR_INPUT_DTYPE);
  EXPECT(pl_dequantize(&truths, &value) == PL_ERROR_OUTPUT_DTYPE);
  EXPECT(pl_argmax(&truths, &index) == PL_ERROR_OUTPUT_DTYPE);
  EXPECT(data == 7 && value == 1.0f && index == 0);
  EXPECT(pl_quantize(NULL, &value) == PL_ERROR_NULL);
  EXPECT(pl_quantize(&nowhere, &value) == PL_ERROR_NULL);
  EXPECT(pl_quantize(&integers, NULL) == PL_ERROR_NULL);
  EXPECT(pl_dequantize(&nowhere, &value) == PL_ERROR_NULL);
  EXPECT(pl_dequantize(&integers, NULL) == PL_ERROR_NULL);
  const uint8_t byte = 9;
  const pl_tensor wide = tensor_of(PL_DTYPE_INT16, 1, 0, &data, 4);
  const pl_tensor real = tensor_of(PL_DTYPE_INT8, 0.5f, -128, &data, 4);
  const pl_tensor whole = tensor_of(PL_DTYPE_INT8, 1, 0, &data, 4);
  EXPECT(pl_from_bytes(&wide, &byte) == PL_ERROR_INPUT_DTYPE);
  EXPECT(pl_from_bytes(&real, &byte) == PL_ERROR_INPUT_SCALE);
  EXPECT(pl_from_bytes(&whole, &byte) == PL_ERROR_INPUT_ZERO_POINT);
  EXPECT(pl_from_bytes(NULL, &byte) == PL_ERROR_NULL);
  EXPECT(pl_from_bytes(&nowhere, &byte) == PL_ERROR_NULL);
  EXPECT(pl_from_bytes(&whole, NULL) == PL_ERROR_NULL);
  EXPECT(data == 7);
  EXPECT(pl_argmax(&nowhere, &index) == PL_ERROR_NULL);
  EXPECT(pl_argmax(&integers, NULL) == PL_ERROR_NULL);
}

int main(void) {
  test_known_numbers();
  test_there_and_back();
  test_bytes();
  test_largest();
  test_wrong_calls();
  return expect_report();
}
