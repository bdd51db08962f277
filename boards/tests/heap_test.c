// SPDX-License-Identifier: Apache-2.0
//
// Compares a heap with a record of its allocations. Blocks lie inside, are aligned and separate,
// and keep their content. At the end the heap is one block again.
#include "boards/common/heap.h"

#include <stddef.h>
#include <string.h>

#include "boards/common/expect.h"

enum { BYTES = 2000, BLOCKS = 24, TURNS = 5000, OWN = 8 };

static _Alignas(8) uint8_t memory[BYTES + 8];
static uint32_t seed = 1;

static uint32_t random_below(uint32_t end) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % end;
}

typedef struct {
  uint8_t *data;
  uint32_t bytes;
  uint8_t value;
} held;

static void expect_sound(const held *blocks, const uint8_t *start, const uint8_t *end) {
  for (int i = 0; i < BLOCKS; ++i) {
    const held *const one = &blocks[i];
    if (one->data == NULL) continue;
    EXPECT(one->data >= start && one->data + one->bytes <= end);
    EXPECT_EQUAL((uintptr_t)one->data % 8, 0);
    for (uint32_t at = 0; at < one->bytes; ++at) {
      if (one->data[at] != one->value) EXPECT(!"kept");
    }
  }
}

static void fill(held *one) { memset(one->data, one->value, one->bytes); }

static void try_at_random(uint8_t *start, uint8_t *end) {
  pl_heap heap = pl_heap_of(start, end);
  held blocks[BLOCKS] = {0};
  uint32_t refused = 0;
  for (uint32_t turn = 0; turn < TURNS; ++turn) {
    held *const one = &blocks[random_below(BLOCKS)];
    const uint32_t bytes = random_below(random_below(8) == 0 ? BYTES : 120);
    if (one->data != NULL && random_below(2) == 0) {
      pl_heap_free(&heap, one->data);
      one->data = NULL;
    } else {
      const uint32_t alignment = one->data == NULL ? 1u << random_below(7) : 1;
      uint8_t *const data = one->data == NULL ? pl_heap_allocate_aligned(&heap, alignment, bytes)
                                              : pl_heap_resize(&heap, one->data, bytes);
      EXPECT_EQUAL((uintptr_t)data % alignment, 0);
      refused += data == NULL;
      if (data == NULL) continue;
      const uint32_t kept = one->data == NULL ? 0 : one->bytes < bytes ? one->bytes : bytes;
      for (uint32_t at = 0; at < kept; ++at) {
        if (data[at] != one->value) EXPECT(!"moved");
      }
      *one = (held){data, bytes, (uint8_t)turn};
      fill(one);
    }
    if (turn % 16 == 0) expect_sound(blocks, start, end);
  }
  EXPECT(refused > 10 && refused < TURNS / 2);
  for (int i = 0; i < BLOCKS; ++i) pl_heap_free(&heap, blocks[i].data);
  // One block has all of it, except its header and up to 7 bytes at each end.
  EXPECT(pl_heap_allocate(&heap, (uint32_t)(end - start) - OWN - 14) != NULL);
}

static void try_small_ones(void) {
  for (uint32_t bytes = 0; bytes < 24; ++bytes) {
    pl_heap heap = pl_heap_of(memory, memory + bytes);
    EXPECT((pl_heap_allocate(&heap, 1) != NULL) == (bytes >= 16));
    EXPECT(pl_heap_allocate(&heap, 1) == NULL);
  }
  pl_heap heap = pl_heap_of(memory, memory + BYTES);
  EXPECT(pl_heap_allocate(&heap, UINT32_MAX) == NULL);
  EXPECT(pl_heap_allocate(&heap, UINT32_MAX - 7) == NULL);
  void *const some = pl_heap_allocate(&heap, 100);
  EXPECT(pl_heap_resize(&heap, some, UINT32_MAX) == NULL);
  EXPECT(pl_heap_resize(&heap, some, 1900) == some);  // the following block is free
  pl_heap_free(&heap, NULL);
}

int main(void) {
  try_small_ones();
  for (uint32_t skipped = 0; skipped < 8; ++skipped) {
    try_at_random(memory + skipped, memory + skipped + BYTES - random_below(8));
  }
  return expect_report();
}
