// SPDX-License-Identifier: Apache-2.0
//
// A heap: consecutive blocks in a memory, allocated first fit. It serves malloc (libc.c). newlib's
// own malloc requests pages of 4 KB, more than small chips have.
#ifndef BOARDS_COMMON_HEAP_H_
#define BOARDS_COMMON_HEAP_H_

#include <stdint.h>

typedef struct {
  uint8_t *start;
  uint8_t *end;
} pl_heap;

// A heap in the memory from `start` to `end`, with nothing allocated.
pl_heap pl_heap_of(uint8_t *start, const uint8_t *end);

// `bytes` bytes aligned to 8; null if no block is so large. Of 0 bytes there may be a block too.
void *pl_heap_allocate(pl_heap *heap, uint32_t bytes);

// The same, aligned to a power of two.
void *pl_heap_allocate_aligned(pl_heap *heap, uint32_t alignment, uint32_t bytes);

// A block may be used by others from now on. Nothing is done for null.
void pl_heap_free(pl_heap *heap, void *memory);

// Makes a block larger or smaller and keeps its content, in place or moved. Returns null and leaves
// the block unchanged if there is no room. Equals pl_heap_allocate for null.
void *pl_heap_resize(pl_heap *heap, void *memory, uint32_t bytes);

#endif  // BOARDS_COMMON_HEAP_H_
