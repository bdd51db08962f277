// SPDX-License-Identifier: Apache-2.0
//
// The parts of a run: pl_model_run is pl_run_begin, the steps, pl_run_end.
#ifndef FIRMWARE_RUNTIME_RUN_H_
#define FIRMWARE_RUNTIME_RUN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/runtime/model.h"
#include "firmware/runtime/plan.h"
#include "kernels/common/status.h"

// Sets the flag; returns its value before. Threads and handlers may do so at the same time.
// NOLINTNEXTLINE(readability-non-const-parameter): clang-tidy takes the exchange for a read.
static inline uint32_t pl_busy_set(volatile uint32_t *busy) {
#if defined(__ARM_ARCH_6M__)
  // This architecture has no exclusive access.
  uint32_t masked;
  __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(masked)::"memory");
  const uint32_t before = *busy;
  *busy = 1;
  __asm__ volatile("msr primask, %0" ::"r"(masked) : "memory");
  return before;
#else
  return __atomic_exchange_n(busy, 1u, __ATOMIC_ACQUIRE);
#endif
}

// Takes the plan's arena, unless it is in use.
static inline bool pl_plan_take(const pl_plan *plan) {
  if (plan->busy == NULL) {
    return true;
  }
  if (pl_lock != NULL) {
    pl_lock();
  }
  const bool is_free = pl_busy_set(plan->busy) == 0;
  if (!is_free && pl_unlock != NULL) {
    pl_unlock();
  }
  return is_free;
}

static inline void pl_plan_give_back(const pl_plan *plan) {
  if (plan->busy == NULL) {
    return;
  }
#if defined(__ARM_ARCH_6M__)
  __asm__ volatile("" ::: "memory");
  *plan->busy = 0;
#else
  __atomic_store_n(plan->busy, 0u, __ATOMIC_RELEASE);
#endif
  if (pl_unlock != NULL) {
    pl_unlock();
  }
}

// Takes the plan's arena, checks the descriptors and puts the inputs in place for the steps. This
// is the part of pl_model_run before the first step, with the same statuses. If it fails, nothing
// is taken.
PL_MUST_USE pl_status pl_run_begin(pl_model *model, const pl_tensor *inputs, uint32_t input_count,
                                   const pl_tensor *outputs, uint32_t output_count);

// Copies the outputs to the descriptors' data, if the steps' status is PL_OK, and releases the
// arena. Returns that status.
PL_MUST_USE pl_status pl_run_end(const pl_model *model, const pl_tensor *outputs, pl_status status);

#endif  // FIRMWARE_RUNTIME_RUN_H_
