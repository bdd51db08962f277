// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/copy.h"

// The alignment required by the core's word loads and stores.
#if defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED)
#define WORD_ALIGNMENT 4
#else
#define WORD_ALIGNMENT 1
#endif

static int aligned(const void *a, const void *b, uintptr_t alignment) {
  return (((uintptr_t)a | (uintptr_t)b) & (alignment - 1)) == 0;
}

void pl_copy_bytes(int8_t *to, const int8_t *from, int32_t bytes) {
  if (aligned(to, from, 4)) {  // load and store multiple
    for (; bytes >= 16; bytes -= 16) {
      __builtin_memcpy(__builtin_assume_aligned(to, 4), __builtin_assume_aligned(from, 4), 16);
      to += 16;
      from += 16;
    }
  }
  if (aligned(to, from, WORD_ALIGNMENT)) {
    for (; bytes >= 4; bytes -= 4) {
      __builtin_memcpy(__builtin_assume_aligned(to, WORD_ALIGNMENT),
                       __builtin_assume_aligned(from, WORD_ALIGNMENT), 4);
      to += 4;
      from += 4;
    }
  }
  for (; bytes > 0; --bytes) *to++ = *from++;
}

void pl_fill_bytes(int8_t *to, int8_t value, int32_t bytes) {
  const uint32_t word = (uint8_t)value * 0x01010101u;
  if (aligned(to, to, WORD_ALIGNMENT)) {
    for (; bytes >= 16; bytes -= 16) {
      int8_t *four = __builtin_assume_aligned(to, WORD_ALIGNMENT);
      __builtin_memcpy(four, &word, 4);
      __builtin_memcpy(four + 4, &word, 4);
      __builtin_memcpy(four + 8, &word, 4);
      __builtin_memcpy(four + 12, &word, 4);
      to += 16;
    }
    for (; bytes >= 4; bytes -= 4) {
      __builtin_memcpy(__builtin_assume_aligned(to, WORD_ALIGNMENT), &word, 4);
      to += 4;
    }
  }
  for (; bytes > 0; --bytes) *to++ = value;
}
