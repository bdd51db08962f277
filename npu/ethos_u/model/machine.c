// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/machine.h"

static bool is_payload_register(uint32_t key) { return key >> 14 == 1; }

static uint32_t register_index(uint32_t key) {
  return is_payload_register(key) ? NPU_CMD0_COUNT + (key & 0x3FF) : key - NPU_CMD0_FIRST;
}

bool npu_fail(npu_machine *machine, ethos_u_status status, uint32_t field, const char *detail,
              int64_t value) {
  ethos_u_error *error = &machine->error;
  if (error->status == ETHOS_U_OK) {
    error->status = status;
    error->field = (uint16_t)field;
    error->detail = detail;
    error->value = value;
  }
  return false;
}

static bool is_written(npu_machine *machine, uint32_t key) {
  const uint32_t index = register_index(key);
  if ((machine->written[index / 8] >> index % 8 & 1) != 0) {
    return true;
  }
  return npu_fail(machine, ETHOS_U_ERROR_NOT_SET, key, NULL, 0);
}

uint32_t npu_register_parameter(npu_machine *machine, uint32_t key) {
  return is_written(machine, key) ? machine->parameters[register_index(key)] : 0;
}

uint32_t npu_register(npu_machine *machine, uint32_t key) {
  if (!is_payload_register(key)) {
    return npu_register_parameter(machine, key);
  }
  return is_written(machine, key) ? machine->payloads[key & 0x3FF] : 0;
}

uint64_t npu_register_address(npu_machine *machine, uint32_t key) {
  return (uint64_t)(npu_register_parameter(machine, key) & 0xFF) << 32 | npu_register(machine, key);
}

int64_t npu_register_stride(npu_machine *machine, uint32_t key) {
  const uint64_t value = npu_register_address(machine, key);
  const uint64_t sign = (uint64_t)1 << (machine->config->product == NPU_U55 ? 31 : 39);
  const uint64_t magnitude = value & (2 * sign - 1);
  return (int64_t)(magnitude & (sign - 1)) - (int64_t)(magnitude & sign);
}

void npu_register_write(npu_machine *machine, uint32_t key, uint32_t parameter, uint32_t payload) {
  const uint32_t index = register_index(key);
  machine->parameters[index] = (uint16_t)parameter;
  if (is_payload_register(key)) {
    machine->payloads[key & 0x3FF] = payload;
  }
  machine->written[index / 8] = (uint8_t)(machine->written[index / 8] | 1u << index % 8);
}

static void keep_access(npu_machine *machine, uint8_t region, bool write, uint64_t begin,
                        uint64_t end) {
  npu_access_list *current = &machine->current;
  if (current->count < NPU_MAX_ACCESSES) {
    current->accesses[current->count++] = (npu_access){begin, end, region, write};
  }
}

uint8_t *npu_access_region(npu_machine *machine, uint32_t field, uint32_t region, bool write,
                           int64_t begin, int64_t end) {
  if (begin < 0) {
    (void)npu_fail(machine, ETHOS_U_ERROR_ADDRESS, field, "below its region", begin);
    return NULL;
  }
  if (end > UINT32_MAX) {
    (void)npu_fail(machine, ETHOS_U_ERROR_ADDRESS, field, "end, beyond 4 GB", end);
    return NULL;
  }
  if (machine->regions != NULL) {
    const ethos_u_region *memory = &machine->regions[region];
    if ((uint64_t)end > memory->size) {
      (void)npu_fail(machine, ETHOS_U_ERROR_ADDRESS, field, "end, beyond its region", end);
      return NULL;
    }
    if (write && !memory->writable) {
      (void)npu_fail(machine, ETHOS_U_ERROR_READ_ONLY, field, "region", region);
      return NULL;
    }
  }
  if ((uint64_t)end > machine->summary->region_bytes[region]) {
    machine->summary->region_bytes[region] = (uint64_t)end;
  }
  keep_access(machine, (uint8_t)region, write, (uint64_t)begin, (uint64_t)end);
  return machine->regions == NULL ? NULL : machine->regions[region].data;
}

void npu_access_lut(npu_machine *machine, bool write, uint32_t begin, uint32_t end) {
  keep_access(machine, NPU_LUT_REGION, write, begin, end);
}

void npu_count_bytes(npu_machine *machine, uint32_t region, bool write, uint64_t bytes) {
  ethos_u_model_counts *counts = &machine->operation.counts;
  if (write) {
    counts->written[region] += bytes;
  } else {
    counts->read[region] += bytes;
  }
}

uint8_t *npu_take_buffers(npu_machine *machine, uint64_t bytes) {
  const uint64_t needed = ETHOS_U_MODEL_STATE_BYTES + bytes;
  if (needed > machine->summary->workspace_bytes) {
    machine->summary->workspace_bytes = needed;
  }
  if (machine->regions == NULL || !npu_ok(machine)) {
    return NULL;
  }
  if (bytes > machine->buffers_size) {
    (void)npu_fail(machine, ETHOS_U_ERROR_WORKSPACE, ETHOS_U_NO_FIELD, "bytes needed",
                   (int64_t)needed);
    return NULL;
  }
  return machine->buffers;
}
