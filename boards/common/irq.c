// SPDX-License-Identifier: Apache-2.0
//
// Uses only the part of the nested vectored interrupt controller that Armv6-M has, too. Priorities
// are written by words there (Armv6-M Architecture Reference Manual, B3.4).
#include "boards/common/irq.h"

#include <stdbool.h>
#include <stdint.h>

#include "boards/common/cpu.h"

#define ICSR 0xe000ed04u
#define NVIC_ISER 0xe000e100u
#define NVIC_ICER 0xe000e180u
#define NVIC_ISPR 0xe000e200u
#define NVIC_ICPR 0xe000e280u
#define NVIC_IPR 0xe000e400u
#define SHPR 0xe000ed18u  // of exception 4 and the following ones

enum {
  ICSR_PENDSTCLR = 1 << 25,
  ICSR_PENDSTSET = 1 << 26,
  ICSR_PENDSVCLR = 1 << 27,
  ICSR_PENDSVSET = 1 << 28,
};

enum { FIRST_INTERRUPT = 16, FIRST_OF_SHPR = 4, PRIORITY_SHIFT = 6, PRIORITY_MASK = 0xff };

// Sets an interrupt's bit in an array of 32 in each word; zeros change nothing.
static void set_bit(uint32_t registers, int32_t irq) {
  const uint32_t number = (uint32_t)irq;
  PL_REGISTER(registers + 4 * (number / 32)) = 1u << number % 32;
}

// Completes all earlier effects before the next instruction.
static void synchronize(void) { __asm__ volatile("dsb\n\tisb" ::: "memory"); }

void pl_irq_enable(int32_t irq) {
  if (irq >= 0) {
    synchronize();
    set_bit(NVIC_ISER, irq);
  }
}

void pl_irq_disable(int32_t irq) {
  if (irq >= 0) {
    set_bit(NVIC_ICER, irq);
    synchronize();
  }
}

void pl_irq_set_pending(int32_t irq) {
  if (irq >= 0) {
    set_bit(NVIC_ISPR, irq);
  } else if (irq == PL_IRQ_SYSTICK || irq == PL_IRQ_PENDSV) {
    PL_REGISTER(ICSR) = irq == PL_IRQ_SYSTICK ? ICSR_PENDSTSET : ICSR_PENDSVSET;
  }
  synchronize();
}

void pl_irq_clear_pending(int32_t irq) {
  if (irq >= 0) {
    set_bit(NVIC_ICPR, irq);
  } else if (irq == PL_IRQ_SYSTICK || irq == PL_IRQ_PENDSV) {
    PL_REGISTER(ICSR) = irq == PL_IRQ_SYSTICK ? ICSR_PENDSTCLR : ICSR_PENDSVCLR;
  }
}

bool pl_irq_is_pending(int32_t irq) {
  if (irq >= 0) {
    const uint32_t number = (uint32_t)irq;
    return (PL_REGISTER(NVIC_ISPR + 4 * (number / 32)) >> number % 32 & 1) != 0;
  }
  const uint32_t bit = irq == PL_IRQ_SYSTICK ? ICSR_PENDSTSET : ICSR_PENDSVSET;
  return (PL_REGISTER(ICSR) & bit) != 0;
}

void pl_irq_set_priority(int32_t irq, uint32_t priority) {
  const uint32_t exception = (uint32_t)(irq + FIRST_INTERRUPT);
  const uint32_t at = irq >= 0 ? NVIC_IPR + (uint32_t)irq : SHPR + exception - FIRST_OF_SHPR;
  const uint32_t shift = 8 * (at % 4);
  const uint32_t others = PL_REGISTER(at - at % 4) & ~((uint32_t)PRIORITY_MASK << shift);
  PL_REGISTER(at - at % 4) = others | (priority & 3) << (shift + PRIORITY_SHIFT);
  synchronize();
}

uint32_t pl_irq_lock(void) {
  uint32_t locked;
  __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(locked)::"memory");
  return locked;
}

void pl_irq_unlock(uint32_t locked) {
  __asm__ volatile("msr primask, %0" ::"r"(locked) : "memory");
}

void pl_irq_wait(void) { __asm__ volatile("dsb\n\twfi" ::: "memory"); }
