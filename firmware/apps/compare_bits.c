// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "firmware/apps/compare.h"

uint32_t pl_compare_bits(const pl_tensor *tensor, const uint8_t *expected) {
  const uint8_t *const actual = tensor->data;
  const uint32_t size = pl_dtype_size(tensor->spec.dtype);
  const uint32_t count = tensor->spec.bytes / size;
  uint32_t element = 0;
  while (element < count &&
         memcmp(actual + (size_t)element * size, expected + (size_t)element * size, size) == 0) {
    ++element;
  }
  return element;
}
