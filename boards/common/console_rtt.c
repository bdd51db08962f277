// SPDX-License-Identifier: Apache-2.0
//
// Console by SEGGER's Real Time Transfer: a ring buffer in RAM, read by a debug probe while the
// program runs. Text that does not fit the ring is lost: a program without a probe does not wait
// for one.
#include <stdint.h>

#include "boards/common/console.h"

enum { RING = 1024, TYPED = 16, TRIM = 1 };

typedef struct {
  const char *name;
  volatile char *ring;
  uint32_t bytes;
  volatile uint32_t write;
  volatile uint32_t read;
  uint32_t flags;
} rtt_channel;

// Control block, found by probes by its symbol, or by its first bytes in RAM.
typedef struct {
  volatile char id[16];
  int32_t up_count;
  int32_t down_count;
  rtt_channel up;    // the probe reads
  rtt_channel down;  // the probe writes
} rtt_block;

extern rtt_block _SEGGER_RTT;
// NOLINTNEXTLINE(bugprone-reserved-identifier): probes know it so.
rtt_block _SEGGER_RTT;
static volatile char ring[RING];
static volatile char typed[TYPED];

// The identification is written last, and backwards: it stands whole in RAM alone.
void pl_console_init(void) {
  static const char backwards[] = "TTR REGGES";
  _SEGGER_RTT.up_count = 1;
  _SEGGER_RTT.down_count = 1;
  _SEGGER_RTT.up = (rtt_channel){"Terminal", ring, RING, 0, 0, TRIM};
  _SEGGER_RTT.down = (rtt_channel){"Terminal", typed, TYPED, 0, 0, TRIM};
  for (uint32_t i = 0; i < sizeof _SEGGER_RTT.id; ++i) _SEGGER_RTT.id[i] = '\0';
  __asm__ volatile("dmb" ::: "memory");
  for (uint32_t i = 0; i < sizeof backwards - 1; ++i) {
    _SEGGER_RTT.id[i] = backwards[sizeof backwards - 2 - i];
  }
}

void pl_console_write(const char *text, uint32_t length) {
  uint32_t at = _SEGGER_RTT.up.write;
  for (uint32_t i = 0; i < length; ++i) {
    const uint32_t next = at + 1 == RING ? 0 : at + 1;
    if (next == _SEGGER_RTT.up.read) break;
    ring[at] = text[i];
    at = next;
  }
  __asm__ volatile("dmb" ::: "memory");
  _SEGGER_RTT.up.write = at;
}

uint32_t pl_console_read(char *text, uint32_t length) {
  uint32_t count = 0;
  uint32_t at = _SEGGER_RTT.down.read;
  while (count < length && at != _SEGGER_RTT.down.write) {
    text[count++] = typed[at];
    at = at + 1 == TYPED ? 0 : at + 1;
  }
  __asm__ volatile("dmb" ::: "memory");
  _SEGGER_RTT.down.read = at;
  return count;
}

void pl_console_flush(void) {}
