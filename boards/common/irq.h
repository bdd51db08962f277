// SPDX-License-Identifier: Apache-2.0
//
// Interrupts. To handle one, define a function with the name of the vendor's headers, in C++ with
// extern "C":
//
//   #include "boards/irqs.h"  // of the board's chip, with this file; //boards:irqs
//
//   void TIM2_IRQHandler(void) { ... }
//   ...
//   pl_irq_set_priority(PL_IRQ_TIM2, 2);
//   pl_irq_enable(PL_IRQ_TIM2);
//
// The linker puts all handlers into the vector table, from any library of the program. TIM2_Handler
// is another name for the same; the build fails if a program has both, or a handler of no
// interrupt. An interrupt without a handler ends the program with PL:FAULT IRQ<number>. Handlers
// run on a stack of their own, `handler_stack` of the board, and may interrupt an inference at any
// point. Vendors' functions (NVIC_EnableIRQ and so on) work as well.
#ifndef BOARDS_COMMON_IRQ_H_
#define BOARDS_COMMON_IRQ_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The core's own handlers a program may define; the chip's are in boards/irqs.h.
void NMI_Handler(void);
void HardFault_Handler(void);
void MemManage_Handler(void);
void BusFault_Handler(void);
void UsageFault_Handler(void);
void SecureFault_Handler(void);
void SVC_Handler(void);
void DebugMon_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);

// The core's own exceptions, by CMSIS numbers. They have a priority, and can be pending, but are
// not enabled here. Numbers from 0 on are the chip's.
enum {
  PL_IRQ_SVC = -5,
  PL_IRQ_PENDSV = -2,
  PL_IRQ_SYSTICK = -1,
};

// Enables an interrupt, or disables it. A pending one stays pending.
void pl_irq_enable(int32_t irq);
void pl_irq_disable(int32_t irq);

// Makes an interrupt pending, as its device would, and not pending. For the chip's interrupts,
// PL_IRQ_PENDSV and PL_IRQ_SYSTICK.
void pl_irq_set_pending(int32_t irq);
void pl_irq_clear_pending(int32_t irq);
bool pl_irq_is_pending(int32_t irq);

// Sets a priority: 0, the most urgent and the initial value, to 3. Every core has these. A handler
// is interrupted by smaller numbers only.
void pl_irq_set_priority(int32_t irq, uint32_t priority);

// No handler runs between the two. Pass the result of pl_irq_lock to pl_irq_unlock, so pairs nest.
uint32_t pl_irq_lock(void);
void pl_irq_unlock(uint32_t locked);

// Sleeps until an interrupt is pending, including one that pl_irq_lock holds back. To wait for a
// handler's work without losing a wakeup, test and wait between lock and unlock.
void pl_irq_wait(void);

#ifdef __cplusplus
}
#endif

#endif  // BOARDS_COMMON_IRQ_H_
