// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/hazard.h"

#include <string.h>

static const npu_access *find_conflict(const npu_access_list *running,
                                       const npu_access_list *started) {
  for (uint32_t i = 0; i < started->count; ++i) {
    const npu_access *access = &started->accesses[i];
    for (uint32_t k = 0; k < running->count; ++k) {
      const npu_access *other = &running->accesses[k];
      if (access->region == other->region && (access->write || other->write) &&
          access->begin < other->end && other->begin < access->end) {
        return access;
      }
    }
  }
  return NULL;
}

void npu_hazard_wait(npu_queue *queue, uint32_t left) {
  if (queue->count <= left) {
    return;
  }
  const uint32_t done = queue->count - left;
  memmove(queue->operations, queue->operations + done, left * sizeof(queue->operations[0]));
  queue->count = left;
}

static bool check(npu_machine *machine, const npu_queue *queue, const char *detail) {
  for (uint32_t i = 0; i < queue->count; ++i) {
    const npu_access *access = find_conflict(&queue->operations[i], &machine->current);
    if (access != NULL) {
      return npu_fail(machine, ETHOS_U_ERROR_HAZARD, ETHOS_U_NO_FIELD, detail,
                      (int64_t)access->begin);
    }
  }
  return true;
}

bool npu_hazard_start(npu_machine *machine, bool is_transfer) {
  npu_queue *own = is_transfer ? &machine->transfers : &machine->kernels;
  bool safe =
      check(machine, is_transfer ? &machine->kernels : &machine->transfers,
            is_transfer ? "address, of a running kernel" : "address, of a running transfer");
  if (is_transfer) {
    safe = safe && check(machine, own, "address, of another running transfer");
  }
  // A full queue makes the NPU wait for the oldest.
  static const uint8_t TRANSFERS[] = {[NPU_U55] = 1, [NPU_U65] = 2, [NPU_U85] = 4};
  const uint32_t capacity = is_transfer ? TRANSFERS[machine->config->product] : 2;
  npu_hazard_wait(own, capacity - 1);
  own->operations[own->count++] = machine->current;
  return safe;
}
