// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/device.h"

#include <string.h>

static bool is_aligned(const void *data) { return (uintptr_t)data % ETHOS_U_ALIGNMENT == 0; }

uint8_t *ethos_u_scratch_tensor(const ethos_u_scratch *scratch, const ethos_u_tensor *tensor) {
  uint8_t *data = NULL;
  uint32_t size = 0;
  if (tensor->region == ETHOS_U_REGION_SCRATCH) {
    data = scratch->data;
    size = scratch->size;
  } else if (tensor->region == ETHOS_U_REGION_FAST_SCRATCH) {
    data = scratch->fast;
    size = scratch->fast_size;
  }
  const bool fits = tensor->bytes <= size && tensor->offset <= size - tensor->bytes;
  return data != NULL && fits ? data + tensor->offset : NULL;
}

static ethos_u_status check_arguments(const ethos_u_device *device, const ethos_u_payload *payload,
                                      const ethos_u_scratch *scratch, bool has_tensors) {
  if (device == NULL || payload == NULL || scratch == NULL || scratch->data == NULL ||
      !has_tensors || (scratch->fast == NULL && scratch->fast_size != 0)) {
    return ETHOS_U_ERROR_NULL;
  }
  if (scratch->size < payload->scratch_size) {
    return ETHOS_U_ERROR_SCRATCH_SIZE;
  }
  if (!is_aligned(scratch->data) || !is_aligned(scratch->fast) || !is_aligned(payload->weights)) {
    return ETHOS_U_ERROR_ALIGNMENT;
  }
  return ETHOS_U_OK;
}

// Takes a device, unless it is in use.
static bool take(ethos_u_device *device) {
  return __atomic_exchange_n(&device->busy, 1u, __ATOMIC_ACQUIRE) == 0;
}

static void give_back(ethos_u_device *device) {
  __atomic_store_n(&device->busy, 0u, __ATOMIC_RELEASE);
}

static ethos_u_status copy_inputs(const ethos_u_payload *payload, const ethos_u_scratch *scratch,
                                  const void *const *inputs) {
  ethos_u_tensor tensor;
  for (uint32_t i = 0; i < payload->input_count; ++i) {
    const ethos_u_status status = ethos_u_payload_input(payload, i, &tensor);
    if (status != ETHOS_U_OK) {
      return status;
    }
    uint8_t *place = ethos_u_scratch_tensor(scratch, &tensor);
    if (place == NULL) {
      return ETHOS_U_ERROR_SCRATCH_SIZE;
    }
    if (inputs[i] != NULL && inputs[i] != place) {
      memcpy(place, inputs[i], tensor.bytes);
    }
  }
  return ETHOS_U_OK;
}

static ethos_u_status copy_outputs(const ethos_u_payload *payload, const ethos_u_scratch *scratch,
                                   void *const *outputs) {
  ethos_u_tensor tensor;
  for (uint32_t i = 0; i < payload->output_count; ++i) {
    const ethos_u_status status = ethos_u_payload_output(payload, i, &tensor);
    if (status != ETHOS_U_OK) {
      return status;
    }
    const uint8_t *place = ethos_u_scratch_tensor(scratch, &tensor);
    if (place == NULL) {
      return ETHOS_U_ERROR_SCRATCH_SIZE;
    }
    if (outputs[i] != NULL && outputs[i] != place) {
      memcpy(outputs[i], place, tensor.bytes);
    }
  }
  return ETHOS_U_OK;
}

ethos_u_status ethos_u_start(ethos_u_device *device, const ethos_u_payload *payload,
                             const ethos_u_scratch *scratch, const void *const *inputs) {
  ethos_u_status status = check_arguments(device, payload, scratch, inputs != NULL);
  if (status != ETHOS_U_OK) {
    return status;
  }
  if (!take(device)) {
    return ETHOS_U_ERROR_BUSY;
  }
  status = copy_inputs(payload, scratch, inputs);
  if (status == ETHOS_U_OK) {
    const ethos_u_region regions[ETHOS_U_REGION_COUNT] = {
        [ETHOS_U_REGION_WEIGHTS] = {(uint8_t *)(uintptr_t)payload->weights, payload->weights_size,
                                    false},
        [ETHOS_U_REGION_SCRATCH] = {scratch->data, scratch->size, true},
        [ETHOS_U_REGION_FAST_SCRATCH] = {scratch->fast, scratch->fast_size, true},
    };
    status = device->start(device, &payload->stream, regions);
  }
  if (status != ETHOS_U_OK) {
    give_back(device);
  }
  return status;
}

bool ethos_u_has_ended(ethos_u_device *device) {
  return device->busy == 0 || device->has_ended(device);
}

ethos_u_status ethos_u_wait(ethos_u_device *device, const ethos_u_payload *payload,
                            const ethos_u_scratch *scratch, void *const *outputs) {
  ethos_u_status status = check_arguments(device, payload, scratch, outputs != NULL);
  if (status != ETHOS_U_OK) {
    return status;
  }
  if (device->busy == 0) {
    return ETHOS_U_ERROR_NOT_STARTED;
  }
  status = device->finish(device);
  if (status == ETHOS_U_OK) {
    status = copy_outputs(payload, scratch, outputs);
  }
  give_back(device);
  return status;
}

ethos_u_status ethos_u_run(ethos_u_device *device, const ethos_u_payload *payload,
                           const ethos_u_scratch *scratch, const void *const *inputs,
                           void *const *outputs) {
  if (outputs == NULL) {
    return ETHOS_U_ERROR_NULL;
  }
  const ethos_u_status status = ethos_u_start(device, payload, scratch, inputs);
  return status == ETHOS_U_OK ? ethos_u_wait(device, payload, scratch, outputs) : status;
}
