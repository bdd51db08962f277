// SPDX-License-Identifier: Apache-2.0
#include "boards/common/heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Header before each block. Blocks cover a heap from its first byte to its last.
typedef struct {
  uint32_t bytes;  // with this; a multiple of 8
  uint32_t is_used;
} block;

enum { STEP = sizeof(block) };

static block *next(const block *this) { return (block *)((uint8_t *)this + this->bytes); }

static bool is_behind(const pl_heap *heap, const block *this) {
  return (uint8_t *)this >= heap->end;
}

static block *block_of(void *memory) { return (block *)memory - 1; }

// Merges a free block with all free blocks that follow it directly.
static void merge(const pl_heap *heap, block *this) {
  for (const block *other = next(this); !is_behind(heap, other) && !other->is_used;
       other = next(this)) {
    this->bytes += other->bytes;
  }
}

// Makes the part of a block beyond `bytes` a free block.
static void split(block *this, uint32_t bytes) {
  const uint32_t rest = this->bytes - bytes;
  if (rest == 0) return;
  this->bytes = bytes;
  *next(this) = (block){rest, false};
}

// Size including the header; 0 if that exceeds the maximum.
static uint32_t whole(uint32_t bytes) {
  const uint32_t blocks = bytes / STEP + (bytes % STEP != 0) + 1;
  return blocks > UINT32_MAX / STEP ? 0 : blocks * STEP;
}

pl_heap pl_heap_of(uint8_t *start, const uint8_t *end) {
  const uintptr_t skipped = -(uintptr_t)start % STEP;
  if ((uintptr_t)(end - start) < skipped + STEP) return (pl_heap){start, start};
  start += skipped;
  const uint32_t bytes = (uint32_t)(end - start) / STEP * STEP;
  *(block *)(void *)start = (block){bytes, false};
  return (pl_heap){start, start + bytes};
}

void *pl_heap_allocate(pl_heap *heap, uint32_t bytes) {
  const uint32_t needed = whole(bytes);
  for (block *this = (void *)heap->start; !is_behind(heap, this); this = next(this)) {
    if (this->is_used) continue;
    merge(heap, this);
    if (needed != 0 && this->bytes >= needed) {
      split(this, needed);
      this->is_used = true;
      return this + 1;
    }
  }
  return NULL;
}

void *pl_heap_allocate_aligned(pl_heap *heap, uint32_t alignment, uint32_t bytes) {
  if (alignment <= STEP) return pl_heap_allocate(heap, bytes);
  if (bytes > UINT32_MAX - alignment) return NULL;
  uint8_t *const memory = pl_heap_allocate(heap, bytes + alignment);
  if (memory == NULL) return NULL;
  const uint32_t skipped = (uint32_t)(-(uintptr_t)memory & (alignment - 1));
  if (skipped == 0) return memory;
  block *const front = block_of(memory);
  split(front, skipped);
  front->is_used = false;
  next(front)->is_used = true;
  return memory + skipped;
}

void pl_heap_free(pl_heap *heap, void *memory) {
  (void)heap;
  if (memory != NULL) block_of(memory)->is_used = false;
}

void *pl_heap_resize(pl_heap *heap, void *memory, uint32_t bytes) {
  if (memory == NULL) return pl_heap_allocate(heap, bytes);
  block *const this = block_of(memory);
  const uint32_t had = this->bytes;
  const uint32_t needed = whole(bytes);
  if (needed == 0) return NULL;
  merge(heap, this);
  if (this->bytes >= needed) {
    split(this, needed);
    return memory;
  }
  split(this, had);
  void *const other = pl_heap_allocate(heap, bytes);
  if (other != NULL) {
    memcpy(other, memory, had - STEP);
    pl_heap_free(heap, memory);
  }
  return other;
}
