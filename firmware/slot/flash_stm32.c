// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32.h"

enum { ACR_CACHE = 1 << 10, ACR_EMPTY_CACHE = 1 << 12 };
// Turns of a loop: 7 s and more at 180 MHz, the highest clock, where a sector is erased in 2 s.
enum { MOST_TURNS = 1 << 28 };
enum { STATUS_DONE = 1 << 0, STATUS_BUSY = 1 << 16 };

static const uint32_t FIRST_KEY = 0x45670123u;
static const uint32_t SECOND_KEY = 0xcdef89abu;
static const uint32_t CONTROL_LOCK = 1u << 31;

static bool wait(const pl_flash_stm32 *controller) {
  for (uint32_t i = 0; i < MOST_TURNS; ++i) {
    if ((*pl_flash_stm32_at(controller->base + controller->status) & STATUS_BUSY) == 0) return true;
  }
  return false;
}

bool pl_flash_stm32_begin(const pl_flash_stm32 *controller, uint32_t control, uint32_t *begun) {
  volatile uint32_t *const access = pl_flash_stm32_at(controller->base);
  if (!wait(controller)) return false;
  *begun = *access;
  if (controller->has_cache) *access = *begun & ~(uint32_t)ACR_CACHE;
  if ((*pl_flash_stm32_at(controller->base + controller->control) & CONTROL_LOCK) != 0) {
    *pl_flash_stm32_at(controller->base + controller->key) = FIRST_KEY;
    *pl_flash_stm32_at(controller->base + controller->key) = SECOND_KEY;
  }
  *pl_flash_stm32_at(controller->base + controller->status) = controller->errors | STATUS_DONE;
  *pl_flash_stm32_at(controller->base + controller->control) = control;
  return true;
}

bool pl_flash_stm32_end(const pl_flash_stm32 *controller, uint32_t begun) {
  volatile uint32_t *const access = pl_flash_stm32_at(controller->base);
  const bool has_ended = wait(controller);
  const uint32_t status = *pl_flash_stm32_at(controller->base + controller->status);
  *pl_flash_stm32_at(controller->base + controller->control) = 0;
  *pl_flash_stm32_at(controller->base + controller->control) = CONTROL_LOCK;
  if (controller->has_cache) {
    *access = (begun & ~(uint32_t)ACR_CACHE) | ACR_EMPTY_CACHE;
    *access = begun & ~(uint32_t)ACR_CACHE;
    *access = begun;
  }
  return has_ended && (status & controller->errors) == 0;
}
