// SPDX-License-Identifier: Apache-2.0
//
// Handlers run by their priorities, and locked ones run later. The linker finds a handler in an
// archive of its own, irq_handlers.c. Every interrupt of the chip works.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/expect.h"
#include "boards/common/timer.h"
#include "boards/irqs.h"
#include "boards/tests/programs/irq_calls.h"
#include "boards/tests/programs/last_irq.h"

enum { TICKS = 20 };

static volatile uint32_t ticks;
static volatile uint32_t nested;
static volatile uint32_t order;
volatile uint32_t pendsv_calls;
volatile uint32_t last_calls;

void PL_TIMER_HANDLER(void) {
  pl_timer_acknowledge();
  ticks += 1;
}

// PendSV interrupts this handler if it is more urgent; else PendSV follows.
void SVC_Handler(void) {
  const uint32_t before = pendsv_calls;
  pl_irq_set_pending(PL_IRQ_PENDSV);
  nested = pendsv_calls - before;
  order += 1;
}

static void call_supervisor(void) { __asm__ volatile("svc #0" ::: "memory"); }

static void expect_priorities(void) {
  pl_irq_set_priority(PL_IRQ_SVC, 2);
  pl_irq_set_priority(PL_IRQ_PENDSV, 1);
  call_supervisor();
  EXPECT(nested == 1 && order == 1 && pendsv_calls == 1);
  pl_irq_set_priority(PL_IRQ_PENDSV, 3);
  call_supervisor();
  EXPECT(nested == 0 && order == 2 && pendsv_calls == 2);
  const uint32_t outer = pl_irq_lock();
  const uint32_t inner = pl_irq_lock();
  EXPECT(!pl_irq_is_pending(PL_IRQ_PENDSV));
  pl_irq_set_pending(PL_IRQ_PENDSV);
  pl_irq_unlock(inner);
  EXPECT(pendsv_calls == 2 && pl_irq_is_pending(PL_IRQ_PENDSV));
  pl_irq_unlock(outer);
  EXPECT(pendsv_calls == 3 && !pl_irq_is_pending(PL_IRQ_PENDSV));
}

static void expect_timer(void) {
  EXPECT(!pl_timer_start(0));
  EXPECT(!pl_timer_start(UINT32_MAX));
  EXPECT(pl_timer_rate() == 0);
  EXPECT(pl_timer_start(1000));
  EXPECT(pl_timer_rate() == 1000);
  for (bool done = false; !done;) {
    const uint32_t locked = pl_irq_lock();
    done = ticks >= TICKS;
    if (!done) {
      pl_irq_wait();
    }
    pl_irq_unlock(locked);
  }
  pl_timer_stop();
  EXPECT(pl_timer_rate() == 0);
  const uint32_t at_stop = ticks;
  for (volatile uint32_t i = 0; i < 100000; i += 1) {
  }
  EXPECT(ticks == at_stop);
}

static void expect_device_interrupt(void) {
  EXPECT(!pl_irq_is_pending(LAST_IRQ));
  pl_irq_set_pending(LAST_IRQ);
  EXPECT(last_calls == 0 && pl_irq_is_pending(LAST_IRQ));
  pl_irq_enable(LAST_IRQ);
  EXPECT(last_calls == 1);
  pl_irq_set_pending(LAST_IRQ);
  EXPECT(last_calls == 2);
  pl_irq_disable(LAST_IRQ);
  pl_irq_set_pending(LAST_IRQ);
  EXPECT(last_calls == 2);
  pl_irq_clear_pending(LAST_IRQ);
  pl_irq_enable(LAST_IRQ);
  EXPECT(last_calls == 2);
}

int main(void) {
  expect_priorities();
  expect_timer();
  expect_device_interrupt();
  return expect_report();
}
