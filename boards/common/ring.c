// SPDX-License-Identifier: Apache-2.0
#include "boards/common/ring.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "boards/common/irq.h"

// Counts wrap around through all numbers. Their difference stays correct, and so does the position,
// because the capacity is a power of two.
static uint8_t *place(const pl_ring *ring, uint32_t record) {
  return (uint8_t *)ring->buffer + (size_t)ring->bytes * (record % ring->capacity);
}

// Compiler barrier: copies must not move past the counts, which record the finished copies.
static void in_order(void) { __asm__ volatile("" ::: "memory"); }

bool pl_ring_put(pl_ring *ring, const void *record) {
  const uint32_t put = ring->put;
  if (put - ring->taken >= ring->capacity) {
    ring->lost += 1;
    return false;
  }
  memcpy(place(ring, put), record, ring->bytes);
  in_order();
  ring->put = put + 1;
  return true;
}

void pl_ring_take(pl_ring *ring, void *to, uint32_t count) {
  const uint32_t locked = pl_irq_lock();
  while (ring->put - ring->taken < count) {
    pl_irq_wait();
    pl_irq_unlock(locked);  // now the handler runs
    (void)pl_irq_lock();
  }
  pl_irq_unlock(locked);
  in_order();
  for (uint32_t i = 0; i < count; ++i) {
    memcpy((uint8_t *)to + (size_t)ring->bytes * i, place(ring, ring->taken + i), ring->bytes);
  }
  in_order();
  ring->taken += count;
}
