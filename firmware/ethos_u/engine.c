// SPDX-License-Identifier: Apache-2.0
#include "firmware/ethos_u/engine.h"

#include <stdbool.h>
#include <stddef.h>

static pl_status as_status(ethos_u_status status) {
  switch (status) {
    case ETHOS_U_OK:
      return PL_OK;
    case ETHOS_U_ERROR_SCRATCH_SIZE:
      return PL_ERROR_SCRATCH_SIZE;
    case ETHOS_U_ERROR_BUSY:
      return PL_ERROR_BUSY;
    case ETHOS_U_ERROR_ALIGNMENT:
    case ETHOS_U_ERROR_PAYLOAD:
    case ETHOS_U_ERROR_CONFIG:
      return PL_ERROR_DELEGATE_PAYLOAD;
    default:
      return PL_ERROR_DELEGATE_RUN;
  }
}

// The payload of a delegate, and the other arguments of ethos_u_run.
typedef struct {
  ethos_u_payload payload;
  ethos_u_scratch scratch;
  const void *inputs[ETHOS_U_ENGINE_TENSORS];
  void *outputs[ETHOS_U_ENGINE_TENSORS];
} arguments;

// ETHOS_U_ERROR_PAYLOAD if the delegate's buffers are not the payload's tensors.
static ethos_u_status gather(const ethos_u_payload *payload, const pl_delegate_data *delegate,
                             const void **inputs, void **outputs) {
  if (payload->input_count != delegate->input_count ||
      payload->output_count != delegate->output_count ||
      payload->input_count > ETHOS_U_ENGINE_TENSORS ||
      payload->output_count > ETHOS_U_ENGINE_TENSORS) {
    return ETHOS_U_ERROR_PAYLOAD;
  }
  ethos_u_status status = ETHOS_U_OK;
  ethos_u_tensor tensor;
  for (uint32_t i = 0; i < payload->input_count && status == ETHOS_U_OK; ++i) {
    status = ethos_u_payload_input(payload, i, &tensor);
    if (status == ETHOS_U_OK && tensor.bytes != delegate->inputs[i].bytes) {
      status = ETHOS_U_ERROR_PAYLOAD;
    }
    inputs[i] = delegate->inputs[i].data;
  }
  for (uint32_t i = 0; i < payload->output_count && status == ETHOS_U_OK; ++i) {
    status = ethos_u_payload_output(payload, i, &tensor);
    if (status == ETHOS_U_OK && tensor.bytes != delegate->outputs[i].bytes) {
      status = ETHOS_U_ERROR_PAYLOAD;
    }
    outputs[i] = delegate->outputs[i].data;
  }
  return status;
}

static ethos_u_status prepare(const ethos_u_npu *npu, const pl_context *context,
                              const pl_delegate_data *delegate, arguments *given) {
  *given =
      (arguments){.scratch = {context->scratch, context->scratch_size, npu->fast, npu->fast_size}};
  const ethos_u_status status =
      ethos_u_payload_parse(delegate->payload, delegate->payload_bytes, &given->payload);
  return status == ETHOS_U_OK ? gather(&given->payload, delegate, given->inputs, given->outputs)
                              : status;
}

static pl_status tell(pl_engine *engine, ethos_u_status status) {
  engine->code = (int32_t)status;
  engine->text = status == ETHOS_U_OK ? "" : ethos_u_status_name(status);
  return as_status(status);
}

static pl_status run(pl_engine *engine, const pl_context *context,
                     const pl_delegate_data *delegate) {
  const ethos_u_npu *const npu = engine->handle;
  arguments given;
  ethos_u_status status = prepare(npu, context, delegate, &given);
  if (status == ETHOS_U_OK) {
    status = ethos_u_run(npu->device, &given.payload, &given.scratch, given.inputs, given.outputs);
  }
  return tell(engine, status);
}

static pl_status start(pl_engine *engine, const pl_context *context,
                       const pl_delegate_data *delegate) {
  const ethos_u_npu *const npu = engine->handle;
  arguments given;
  ethos_u_status status = prepare(npu, context, delegate, &given);
  if (status == ETHOS_U_OK) {
    status = ethos_u_start(npu->device, &given.payload, &given.scratch, given.inputs);
  }
  return tell(engine, status);
}

static bool has_ended(pl_engine *engine) {
  const ethos_u_npu *const npu = engine->handle;
  return ethos_u_has_ended(npu->device);
}

static pl_status finish(pl_engine *engine, const pl_context *context,
                        const pl_delegate_data *delegate) {
  const ethos_u_npu *const npu = engine->handle;
  arguments given;
  ethos_u_status status = prepare(npu, context, delegate, &given);
  if (status == ETHOS_U_OK) {
    status = ethos_u_wait(npu->device, &given.payload, &given.scratch, given.outputs);
  }
  return tell(engine, status);
}

pl_engine ethos_u_engine(ethos_u_npu *npu, const char *configuration) {
  return (pl_engine){
      .backend = "EthosUBackend",
      .configuration = configuration,
      .run = run,
      .start = start,
      .has_ended = has_ended,
      .finish = finish,
      .handle = npu,
      .text = "",
  };
}
