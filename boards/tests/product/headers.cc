// SPDX-License-Identifier: Apache-2.0
//
// Every header for programs, and their defining macros, in C++.
#include <stdint.h>

#include "boards/common/chip.h"
#include "boards/common/console.h"
#include "boards/common/expect.h"
#include "boards/common/irq.h"
#include "boards/common/print.h"
#include "boards/common/ring.h"
#include "boards/common/stack.h"
#include "boards/common/timer.h"
#include "boards/irqs.h"
#include "firmware/features/log_mel.h"
#include "firmware/neutron/engine.h"
#include "firmware/runtime/delegate.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/profile.h"
#include "firmware/runtime/split.h"
#include "firmware/runtime/values.h"
#include "firmware/slot/flash_nrf.h"
#include "firmware/slot/flash_ram.h"
#include "firmware/slot/flash_rp2.h"
#include "firmware/slot/flash_stm32f4.h"
#include "firmware/slot/flash_stm32h7.h"
#include "firmware/slot/flash_stm32l4.h"
#include "firmware/slot/flash_stm32u5.h"
#include "firmware/slot/slot.h"

namespace {

PL_SLOT_MEMORY(memory, 64);

int16_t buffer[4][2];
pl_ring ring = PL_RING(buffer);

}  // namespace

int main() {
  pl_slot slot;
  pl_slot_config config = {};
  EXPECT_EQUAL(pl_slot_open(&slot, &config), PL_SLOT_CONFIG);
  EXPECT_EQUAL(reinterpret_cast<uintptr_t>(memory) % 16, 0);
  const int16_t record[2] = {3, -4};
  int16_t taken[2];
  EXPECT(pl_ring_put(&ring, record));
  pl_ring_take(&ring, taken, 1);
  EXPECT_EQUAL(taken[1], -4);
  return expect_report();
}
