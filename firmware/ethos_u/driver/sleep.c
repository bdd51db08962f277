// SPDX-License-Identifier: Apache-2.0
#include "firmware/ethos_u/driver/sleep.h"

#include <stdbool.h>

#include "boards/common/timer.h"
#include "boards/irqs.h"

enum { WAKEUPS_HZ = 1000, SECOND = 1000000 };

static uint32_t ticks;

uint32_t ethos_u_sleep_ticks(void) { return ++ticks; }

// No handler runs between lock and unlock, but a pending interrupt ends the sleep. An NPU interrupt
// after the check of `interrupted` is therefore not missed.
void ethos_u_sleep(ethos_u_driver *driver) {
  const uint32_t locked = pl_irq_lock();
  const bool is_ours = pl_timer_rate() == 0;
  if (!driver->interrupted && (!is_ours || pl_timer_start(WAKEUPS_HZ))) {
    pl_irq_wait();
    if (pl_irq_is_pending(PL_TIMER_IRQ)) {
      ticks += SECOND / pl_timer_rate();
    }
    if (is_ours) {
      pl_timer_stop();
    }
  }
  pl_irq_unlock(locked);
}
