// SPDX-License-Identifier: Apache-2.0
#include "firmware/neutron/engine.h"

#include <stddef.h>
#include <string.h>

enum { MEMORIES = 3 };  // after the outputs: scratch, profile, debug

static void copy_weights(void *to, void *from, uint32_t size, uint32_t channel) {
  (void)channel;
  memcpy(to, from, size);
}

static void wait_for_weights(uint32_t channel) { (void)channel; }  // the copy is blocking

pl_status neutron_open(neutron_npu *npu) {
  if (npu == NULL || npu->context == NULL) {
    return PL_ERROR_NULL;
  }
  npu->error = neutronInit();
  if (npu->error == ENONE && neutronGetModelContextSize() > sizeof npu->context->bytes) {
    npu->error = NEUTRON_ERROR_CONTEXT;
  }
  if (npu->error == ENONE && npu->fetches_weights) {
    // `from` is const in some of NXP's headers, in others not.
    npu->config.copy =
        (__typeof__(npu->config.copy))copy_weights;  // NOLINT(readability-redundant-parentheses)
    npu->config.wait = wait_for_weights;
    npu->error = neutronSetConfig(&npu->config);
  }
  return npu->error == ENONE ? PL_OK : PL_ERROR_DELEGATE_RUN;
}

static bool is_aligned(const void *data) { return (uintptr_t)data % NEUTRON_ALIGNMENT == 0; }

// The tensors of a delegate as the driver takes them.
static neutron_status gather(const neutron_payload *payload, const pl_delegate_data *delegate,
                             const void **inputs, void **outputs) {
  const uint32_t tensors = payload->input_count + payload->output_count;
  if (payload->argument_count != delegate->input_count ||
      payload->output_count != delegate->output_count ||
      payload->input_count > NEUTRON_ENGINE_TENSORS ||
      payload->output_count > NEUTRON_ENGINE_TENSORS) {
    return NEUTRON_ERROR_TENSORS;
  }
  for (uint32_t i = 0; i < tensors; ++i) {
    if (payload->channels_last[i] != 0) {
      return NEUTRON_ERROR_LAYOUT;
    }
  }
  bool aligned = true;
  for (uint32_t i = 0; i < payload->input_count; ++i) {
    inputs[i] = delegate->inputs[payload->input_map[i]].data;
    aligned = aligned && is_aligned(inputs[i]);
  }
  for (uint32_t i = 0; i < payload->output_count; ++i) {
    outputs[i] = delegate->outputs[payload->output_map[i]].data;
    aligned = aligned && is_aligned(outputs[i]);
  }
  return aligned ? NEUTRON_OK : NEUTRON_ERROR_ALIGNMENT;
}

// Divides the scratch memory, in the order of the payload's requests.
static neutron_status divide(const neutron_payload *payload, const pl_context *context,
                             void **memories, void **fetched) {
  const uint32_t sizes[MEMORIES] = {payload->scratch_bytes, payload->profile_bytes,
                                    payload->debug_bytes};
  uint8_t *next = context->scratch;
  uint32_t left = context->scratch_size;
  for (uint32_t i = 0; i < MEMORIES; ++i) {
    if (sizes[i] > left) {
      return NEUTRON_ERROR_SCRATCH;
    }
    memories[i] = next;
    next += sizes[i];
    left -= sizes[i];
  }
  *fetched = payload->fetched_bytes > 0 ? next : NULL;
  if (payload->fetched_bytes > left) {
    return NEUTRON_ERROR_SCRATCH;
  }
  return is_aligned(context->scratch) ? NEUTRON_OK : NEUTRON_ERROR_ALIGNMENT;
}

// Gives the driver's number.
static int32_t run_program(const neutron_npu *npu, const neutron_payload *payload,
                           const NeutronDataConfig *data) {
  const NeutronModelConfig program = {.microcode = payload->microcode,
                                      .weights = payload->weights,
                                      .kernels = payload->kernels,
                                      .timeoutSeconds = npu->timeout_seconds};
  NeutronModelHandle handle = npu->context->bytes;
  NeutronError error = neutronModelPrepare(&program, &handle);
  if (error != ENONE) {
    return error;
  }
  error = neutronRunBlocking(handle, data);
  const NeutronError given_back = neutronModelUnprepare(handle);
  return error != ENONE ? error : given_back;
}

static pl_status as_status(int32_t code) {
  switch (code) {
    case NEUTRON_OK:
      return PL_OK;
    case NEUTRON_ERROR_SCRATCH:
      return PL_ERROR_SCRATCH_SIZE;
    case NEUTRON_ERROR_PAYLOAD:
    case NEUTRON_ERROR_LAYOUT:
    case NEUTRON_ERROR_TENSORS:
      return PL_ERROR_DELEGATE_PAYLOAD;
    default:
      return PL_ERROR_DELEGATE_RUN;
  }
}

static pl_status run(pl_engine *engine, const pl_context *context,
                     const pl_delegate_data *delegate) {
  const neutron_npu *const npu = engine->handle;
  const void *inputs[NEUTRON_ENGINE_TENSORS] = {NULL};
  void *outputs[NEUTRON_ENGINE_TENSORS + MEMORIES] = {NULL};
  NeutronDataConfig data = {.inputs = inputs, .outputs = outputs};
  neutron_payload payload;
  int32_t code = neutron_payload_parse(delegate->payload, delegate->payload_bytes, &payload);
  if (code == NEUTRON_OK) {
    code = gather(&payload, delegate, inputs, outputs);
  }
  if (code == NEUTRON_OK) {
    code = divide(&payload, context, outputs + payload.output_count, &data.scratchWeights);
    data.scratch = outputs[payload.output_count];
  }
  if (code == NEUTRON_OK) {
    code = run_program(npu, &payload, &data);
  }
  engine->code = code;
  engine->text = code == NEUTRON_OK ? "" : neutron_status_name(code);
  return as_status(code);
}

pl_engine neutron_engine(neutron_npu *npu, const char *configuration) {
  return (pl_engine){
      .backend = "NeutronBackend",
      .configuration = configuration,
      .run = run,
      .handle = npu,
      .text = "",
  };
}
