// SPDX-License-Identifier: Apache-2.0
#include "tests/neutron/stand_in_driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "NeutronDriver.h"
#include "firmware/runtime/model.h"

enum {
  ALIGNMENT = 16,
  MAX_TENSORS = 4,
  PIECE = 512,  // bytes of weights per fetch
  WEIGHTS_BYTES = 7,
  SCRATCH_BYTES = 9,
  FETCHED_BYTES = 10,
  INPUTS = 11,
  OUTPUTS = 12,
};

static stand_in_driver state = {.context_bytes = 64};
static NeutronConfig *config;

stand_in_driver *stand_in_driver_state(void) { return &state; }

NeutronError neutronInit(void) { return state.init; }

NeutronError neutronSetConfig(NeutronConfig *given) {
  config = given;
  return ENONE;
}

size_t neutronGetModelContextSize(void) { return state.context_bytes; }

static bool is_placed(const void *data) { return data != NULL && (uintptr_t)data % ALIGNMENT == 0; }

static uint32_t word(const void *data, uint32_t index) {
  uint32_t value;
  memcpy(&value, (const uint8_t *)data + 4 * index, sizeof value);
  return value;
}

NeutronError neutronModelPrepare(const NeutronModelConfig *program, NeutronModelHandle *handle) {
  if (!is_placed(*handle) || !is_placed(program->microcode) || !is_placed(program->weights) ||
      !is_placed(program->kernels)) {
    return STAND_IN_MISPLACED;
  }
  memcpy(*handle, program, sizeof *program);
  state.timeout_seconds = program->timeoutSeconds;
  ++state.prepared;
  return ENONE;
}

NeutronError neutronModelUnprepare(NeutronModelHandle handle) {
  memset(handle, 0xa5, sizeof(NeutronModelConfig));
  --state.prepared;
  return ENONE;
}

static uint32_t crc32(const uint8_t *data, uint32_t size) {
  uint32_t crc = UINT32_MAX;
  for (uint32_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1u) != 0 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
  }
  return ~crc;
}

// The weights where the NPU reads them; null if the core did not bring them there.
static const uint8_t *weights_of(const NeutronModelConfig *program, const NeutronDataConfig *data) {
  const uint32_t size = word(program->microcode, WEIGHTS_BYTES);
  if (word(program->microcode, FETCHED_BYTES) == 0) {
    return program->weights;
  }
  if (config == NULL || !is_placed(data->scratchWeights)) {
    return NULL;
  }
  uint8_t *const to = data->scratchWeights;
  uint8_t *const from = (uint8_t *)(uintptr_t)program->weights;
  for (uint32_t at = 0; at < size; at += PIECE) {
    const uint32_t piece = size - at < PIECE ? size - at : PIECE;
    config->copy(to + at, from + at, piece, at / PIECE % 2);
    config->wait(at / PIECE % 2);
    state.fetched += piece;
  }
  return to;
}

static const pl_plan *plan_of(uint32_t checksum) {
  for (uint32_t i = 0; i < stand_in_region_count; ++i) {
    if (stand_in_regions[i].checksum == checksum) {
      return stand_in_regions[i].plan;
    }
  }
  return NULL;
}

// The program's inputs and outputs are the plan's in reverse order.
static pl_status run_plan(const pl_plan *plan, const NeutronDataConfig *data) {
  pl_model model;
  pl_tensor inputs[MAX_TENSORS];
  pl_tensor outputs[MAX_TENSORS];
  pl_status status = pl_model_init(&model, plan);
  for (uint32_t i = 0; i < plan->input_count && status == PL_OK; ++i) {
    status = pl_model_input(&model, i, &inputs[i]);
    memcpy(inputs[i].data, data->inputs[plan->input_count - 1 - i], plan->inputs[i].spec.bytes);
  }
  for (uint32_t i = 0; i < plan->output_count && status == PL_OK; ++i) {
    status = pl_model_output(&model, i, &outputs[i]);
  }
  if (status == PL_OK) {
    status = pl_model_run(&model, inputs, plan->input_count, outputs, plan->output_count);
  }
  for (uint32_t i = 0; i < plan->output_count && status == PL_OK; ++i) {
    memcpy(data->outputs[plan->output_count - 1 - i], outputs[i].data, plan->outputs[i].spec.bytes);
  }
  return status;
}

NeutronError neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig *data) {
  NeutronModelConfig program;
  memcpy(&program, handle, sizeof program);
  ++state.runs;
  if (state.runs == state.fails_at) {
    return STAND_IN_FAILS;
  }
  const uint32_t input_count = word(program.microcode, INPUTS);
  const uint32_t output_count = word(program.microcode, OUTPUTS);
  for (uint32_t i = 0; i < input_count; ++i) {
    if (!is_placed(data->inputs[i])) {
      return STAND_IN_MISPLACED;
    }
  }
  for (uint32_t i = 0; i < output_count + 3; ++i) {  // scratch, profile and debug after them
    if (!is_placed(data->outputs[i])) {
      return STAND_IN_MISPLACED;
    }
  }
  const uint8_t *const weights = weights_of(&program, data);
  const uint32_t checksum = word(program.kernels, 0);
  const pl_plan *const plan = plan_of(checksum);
  if (weights == NULL || plan == NULL || plan->input_count != input_count ||
      plan->output_count != output_count || input_count > MAX_TENSORS ||
      output_count > MAX_TENSORS ||
      crc32(weights, word(program.microcode, WEIGHTS_BYTES)) != checksum) {
    return STAND_IN_UNKNOWN;
  }
  // All of it belongs to the NPU during a run.
  memset(data->outputs[output_count], (int)state.runs, word(program.microcode, SCRATCH_BYTES));
  return run_plan(plan, data) == PL_OK ? ENONE : STAND_IN_UNKNOWN;
}
