// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/flash_stm32.h"

enum { ACR_CACHE = 1 << 10, ACR_EMPTY_CACHE = 1 << 12 };
enum { STATUS_DONE = 1 << 0, STATUS_BUSY = 1 << 16 };

static const uint32_t FIRST_KEY = 0x45670123u;
static const uint32_t SECOND_KEY = 0xcdef89abu;
static const uint32_t CONTROL_LOCK = 1u << 31;

static void wait(const pl_flash_stm32 *controller) {
  while ((*pl_flash_stm32_at(controller->base + controller->status) & STATUS_BUSY) != 0) {
  }
}

uint32_t pl_flash_stm32_begin(const pl_flash_stm32 *controller, uint32_t control) {
  volatile uint32_t *const access = pl_flash_stm32_at(controller->base);
  const uint32_t before = *access;
  wait(controller);
  *access = before & ~(uint32_t)ACR_CACHE;
  if ((*pl_flash_stm32_at(controller->base + controller->control) & CONTROL_LOCK) != 0) {
    *pl_flash_stm32_at(controller->base + controller->key) = FIRST_KEY;
    *pl_flash_stm32_at(controller->base + controller->key) = SECOND_KEY;
  }
  *pl_flash_stm32_at(controller->base + controller->status) = controller->errors | STATUS_DONE;
  *pl_flash_stm32_at(controller->base + controller->control) = control;
  return before;
}

bool pl_flash_stm32_end(const pl_flash_stm32 *controller, uint32_t begun) {
  volatile uint32_t *const access = pl_flash_stm32_at(controller->base);
  wait(controller);
  const uint32_t status = *pl_flash_stm32_at(controller->base + controller->status);
  *pl_flash_stm32_at(controller->base + controller->control) = 0;
  *pl_flash_stm32_at(controller->base + controller->control) = CONTROL_LOCK;
  *access = (begun & ~(uint32_t)ACR_CACHE) | ACR_EMPTY_CACHE;
  *access = begun & ~(uint32_t)ACR_CACHE;
  *access = begun;
  return (status & controller->errors) == 0;
}
