// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/model.h"

#include <string.h>

#include "npu/ethos_u/model/hazard.h"
#include "npu/ethos_u/model/machine.h"
#include "npu/ethos_u/model/operations.h"

static const npu_command COMMANDS[] = NPU_COMMANDS;
#if NPU_HAS_U85
static const npu_command COMMANDS_U85[] = NPU_COMMANDS_U85;
#endif

_Static_assert(sizeof(npu_machine) <= ETHOS_U_MODEL_STATE_BYTES, "the machine must fit its bytes");

static const npu_command *find_command(npu_product product, uint32_t key) {
  const npu_command *commands = COMMANDS;
  size_t count = sizeof(COMMANDS) / sizeof(COMMANDS[0]);
#if NPU_HAS_U85
  if (product == NPU_U85) {
    commands = COMMANDS_U85;
    count = sizeof(COMMANDS_U85) / sizeof(COMMANDS_U85[0]);
  }
#else
  (void)product;
#endif
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (commands[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && commands[low].key == key ? &commands[low] : NULL;
}

static bool is_u65_only(uint32_t key) {
  return key == NPU_SET_PARALLEL_MODE || key == NPU_SET_DMA0_SKIP0 || key == NPU_SET_DMA0_SKIP1 ||
         (key >= NPU_SET_WEIGHT1_BASE && key <= NPU_SET_SCALE1_LENGTH);
}

static void add_counts(ethos_u_model_counts *sum, const ethos_u_model_counts *counts) {
  sum->cycles += counts->cycles;
  sum->macs += counts->macs;
  for (int i = 0; i < ETHOS_U_REGION_COUNT; ++i) {
    sum->read[i] += counts->read[i];
    sum->written[i] += counts->written[i];
  }
}

static bool run_u55(npu_machine *machine, uint32_t key, uint32_t parameter) {
  switch (key) {
    case NPU_OP_CONV:
      return npu_run_conv(machine);
    case NPU_OP_DEPTHWISE:
      return npu_run_depthwise(machine);
    case NPU_OP_POOL:
      return npu_run_pool(machine, parameter);
    case NPU_OP_ELEMENTWISE:
      return npu_run_elementwise(machine, parameter);
    default:
      return npu_run_dma(machine);
  }
}

static bool run_operation(npu_machine *machine, uint32_t key, uint32_t parameter) {
  memset(&machine->operation.counts, 0, sizeof(machine->operation.counts));
  memset(machine->operation.ifm_shape, 0, sizeof(machine->operation.ifm_shape));
  memset(machine->operation.ofm_shape, 0, sizeof(machine->operation.ofm_shape));
  machine->operation.opcode = (uint16_t)key;
  machine->operation.mode = (uint16_t)parameter;
  machine->current.count = 0;
#if NPU_HAS_U85
  const bool done = machine->config->product == NPU_U85 ? npu_u85_run(machine, key, parameter)
                                                        : run_u55(machine, key, parameter);
#else
  const bool done = run_u55(machine, key, parameter);
#endif
  if (!done ||
      (machine->options.check_hazards && !npu_hazard_start(machine, key == NPU_OP_DMA_START))) {
    return false;
  }
  ++machine->summary->operations;
  add_counts(&machine->summary->counts, &machine->operation.counts);
  if (machine->options.observer != NULL) {
    machine->options.observer(machine->options.observer_context, &machine->operation);
  }
  return true;
}

// One command. False on error; *stopped after OP_STOP.
static bool run_command(npu_machine *machine, uint32_t key, uint32_t parameter, uint32_t payload,
                        bool *stopped) {
  const npu_command *command = find_command(machine->config->product, key);
  if (command == NULL || (machine->config->product == NPU_U55 && is_u65_only(key))) {
    return npu_fail(machine, ETHOS_U_ERROR_COMMAND, ETHOS_U_NO_FIELD, "key", key);
  }
  const uint32_t reserved = parameter & ~(uint32_t)command->parameter_mask;
  if (reserved != 0 || (payload & ~command->payload_mask) != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, key, "reserved bits",
                    reserved != 0 ? reserved : payload & ~command->payload_mask);
  }
  switch (key) {
    case NPU_OP_STOP:
      *stopped = true;
      return true;
    case NPU_OP_IRQ:
    case NPU_OP_PMU_MASK:
      return true;
    case NPU_OP_DMA_WAIT:
      npu_hazard_wait(&machine->transfers, parameter);
      return true;
    case NPU_OP_KERNEL_WAIT:
      npu_hazard_wait(&machine->kernels, parameter);
      return true;
    case NPU_OP_CONV:
    case NPU_OP_DEPTHWISE:
    case NPU_OP_POOL:
    case NPU_OP_ELEMENTWISE:
    case NPU_OP_RESIZE:
    case NPU_OP_DMA_START:
      return run_operation(machine, key, parameter);
    case NPU_SET_PARALLEL_MODE:
      if (parameter != (machine->config->cores > 1 ? 1u : 0u)) {
        return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, key, "parallel_mode", parameter);
      }
      return true;
    case NPU_OP_BRANCH:
      return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, ETHOS_U_NO_FIELD, "branch", payload);
    default:
      npu_register_write(machine, key, parameter, payload);
      return true;
  }
}

static void run_stream(npu_machine *machine, const ethos_u_stream *stream) {
  bool stopped = false;
  uint32_t index = 0;
  for (uint32_t at = 0; !stopped && npu_ok(machine); ++index) {
    machine->error.command = machine->operation.command = index;
    machine->error.offset = machine->operation.offset = at;
    machine->error.opcode = ETHOS_U_NO_FIELD;
    if (at >= stream->count) {
      (void)npu_fail(machine, ETHOS_U_ERROR_STREAM_END, ETHOS_U_NO_FIELD, "words", at);
      break;
    }
    const uint32_t word = stream->words[at++];
    uint32_t payload = 0;
    machine->error.opcode = (uint16_t)word;
    if ((word >> 14 & 3) == 1) {
      if (at >= stream->count) {
        (void)npu_fail(machine, ETHOS_U_ERROR_STREAM_END, ETHOS_U_NO_FIELD, "words", at);
        break;
      }
      payload = stream->words[at++];
    }
    (void)run_command(machine, word & 0xFFFF, word >> 16, payload, &stopped);
  }
  machine->summary->commands = index;
}

// Runs the stream, or inspects it if `regions` is null. `kept` has the sizes of the last
// inspection, and gets those of this one.
static void run_pass(npu_machine *machine, const npu_config *config, const ethos_u_stream *stream,
                     const ethos_u_region *regions, const ethos_u_model_options *options,
                     npu_kept *kept, uint64_t workspace_bytes, ethos_u_model_summary *summary,
                     ethos_u_error *error) {
  memset(summary, 0, sizeof(*summary));
  memset(machine, 0, sizeof(*machine));
  *error = (ethos_u_error){.field = ETHOS_U_NO_FIELD, .opcode = ETHOS_U_NO_FIELD};
  machine->config = config;
  machine->regions = regions;
  machine->summary = summary;
  machine->error = *error;
  machine->options = *options;
  machine->buffers = (uint8_t *)machine + ETHOS_U_MODEL_STATE_BYTES;
  machine->buffers_size = workspace_bytes - ETHOS_U_MODEL_STATE_BYTES;
  summary->workspace_bytes = ETHOS_U_MODEL_STATE_BYTES;
  if (regions != NULL) {
    for (int i = 0; i < 1 + NPU_CHAIN_BUFFERS; ++i) {
      machine->kept.data[i] = machine->buffers;
      machine->buffers += kept->sizes[i];
      machine->buffers_size -= kept->sizes[i];
    }
  }
  run_stream(machine, stream);
  *kept = machine->kept;
  for (int i = 0; i < 1 + NPU_CHAIN_BUFFERS; ++i) {
    summary->workspace_bytes += kept->sizes[i];
  }
  *error = machine->error;
}

static ethos_u_status run(const ethos_u_stream *stream, const ethos_u_region *regions,
                          void *workspace, uint64_t workspace_bytes,
                          const ethos_u_model_options *options, ethos_u_model_summary *summary,
                          ethos_u_error *error) {
  if (stream == NULL || workspace == NULL || summary == NULL || error == NULL) {
    return ETHOS_U_ERROR_NULL;
  }
  memset(summary, 0, sizeof(*summary));
  *error = (ethos_u_error){.field = ETHOS_U_NO_FIELD, .opcode = ETHOS_U_NO_FIELD};
  const npu_config *config = npu_config_find(stream->config);
  if (config == NULL) {
    error->detail = "CONFIG";
    error->value = stream->config;
    return error->status = ETHOS_U_ERROR_CONFIG;
  }
  if ((uintptr_t)workspace % ETHOS_U_ALIGNMENT != 0) {
    return error->status = ETHOS_U_ERROR_ALIGNMENT;
  }
  if (workspace_bytes < ETHOS_U_MODEL_STATE_BYTES) {
    error->detail = "bytes needed";
    error->value = ETHOS_U_MODEL_STATE_BYTES;
    return error->status = ETHOS_U_ERROR_WORKSPACE;
  }
  const ethos_u_model_options none = {0};
  const ethos_u_model_options *chosen = options == NULL ? &none : options;
  npu_kept kept = {0};
  if (config->product == NPU_U85 && regions != NULL) {
    ethos_u_model_options silent = *chosen;
    silent.observer = NULL;
    run_pass(workspace, config, stream, NULL, &silent, &kept, workspace_bytes, summary, error);
    if (error->status != ETHOS_U_OK) {
      return error->status;
    }
    if (summary->workspace_bytes > workspace_bytes) {
      error->detail = "bytes needed";
      error->value = (int64_t)summary->workspace_bytes;
      return error->status = ETHOS_U_ERROR_WORKSPACE;
    }
  }
  run_pass(workspace, config, stream, regions, chosen, &kept, workspace_bytes, summary, error);
  return error->status;
}

ethos_u_status ethos_u_model_inspect(const ethos_u_stream *stream, void *workspace,
                                     uint64_t workspace_bytes, const ethos_u_model_options *options,
                                     ethos_u_model_summary *summary, ethos_u_error *error) {
  return run(stream, NULL, workspace, workspace_bytes, options, summary, error);
}

ethos_u_status ethos_u_model_run(const ethos_u_stream *stream, const ethos_u_region *regions,
                                 void *workspace, uint64_t workspace_bytes,
                                 const ethos_u_model_options *options,
                                 ethos_u_model_summary *summary, ethos_u_error *error) {
  if (regions == NULL) {
    return ETHOS_U_ERROR_NULL;
  }
  return run(stream, regions, workspace, workspace_bytes, options, summary, error);
}
