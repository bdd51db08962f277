// SPDX-License-Identifier: Apache-2.0
//
// Ring buffer of records from an interrupt's handler to the program, in order: samples of a sensor,
// blocks of a microphone.
//
//   static int16_t buffer[128][3];
//   static pl_ring ring = PL_RING(buffer);
//
//   void TIM2_IRQHandler(void) { ... (void)pl_ring_put(&ring, sample); }
//   ...
//   pl_ring_take(&ring, window, 64);  // sleeps until there are 64
//
// One handler puts and one program takes; neither blocks the other.
#ifndef BOARDS_COMMON_RING_H_
#define BOARDS_COMMON_RING_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Its fields are private except two counts: `put`, the stored records, and `lost`, the records that
// did not fit.
typedef struct {
  void *buffer;
  uint32_t bytes;     // of a record
  uint32_t capacity;  // records
  volatile uint32_t put;
  volatile uint32_t taken;
  volatile uint32_t lost;
} pl_ring;

// A ring in an array of records, empty; as many as a power of two.
#define PL_RING(array)                             \
  {.buffer = (array),                              \
   .bytes = sizeof((array)[0]),                    \
   .capacity = sizeof(array) / sizeof((array)[0]), \
   .put = 0,                                       \
   .taken = 0,                                     \
   .lost = 0}

// Copies a record into the ring; false, and counted as lost, if it is full.
bool pl_ring_put(pl_ring *ring, const void *record);

// Copies the oldest `count` records, at most the ring's capacity, to `to`, and makes room for as
// many; sleeps until they are there.
void pl_ring_take(pl_ring *ring, void *to, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_COMMON_RING_H_
