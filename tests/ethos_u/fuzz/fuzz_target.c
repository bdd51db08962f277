// SPDX-License-Identifier: Apache-2.0
#include "tests/ethos_u/fuzz/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

#include "npu/ethos_u/model/model.h"

enum {
  MAX_REGION = 1 << 18,
  MAX_WORKSPACE = 1 << 22,
  MAX_MACS = 1 << 22,
  MAX_BYTES = 1 << 22,
};

uint32_t fuzz_parsed;
uint32_t fuzz_inspected;
uint32_t fuzz_executed;

static void *allocate(uint64_t size) {
  void *memory = aligned_alloc(
      ETHOS_U_ALIGNMENT,
      (size + ETHOS_U_ALIGNMENT - 1) / ETHOS_U_ALIGNMENT * ETHOS_U_ALIGNMENT + ETHOS_U_ALIGNMENT);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

// Reads all of its tensors' entries; nothing depends on them here.
static void read_tensors(const ethos_u_payload *payload) {
  ethos_u_tensor tensor;
  for (uint32_t i = 0; i < payload->input_count; ++i) {
    if (ethos_u_payload_input(payload, i, &tensor) != ETHOS_U_OK) {
      break;
    }
  }
  for (uint32_t i = 0; i < payload->output_count; ++i) {
    if (ethos_u_payload_output(payload, i, &tensor) != ETHOS_U_OK) {
      break;
    }
  }
}

static uint64_t bytes_moved(const ethos_u_model_counts *counts) {
  uint64_t bytes = 0;
  for (int i = 0; i < ETHOS_U_REGION_COUNT; ++i) {
    bytes += counts->read[i] + counts->written[i];
  }
  return bytes;
}

static void execute(const ethos_u_payload *payload, const ethos_u_model_summary *inspected) {
  ethos_u_region regions[ETHOS_U_REGION_COUNT];
  for (int i = 0; i < ETHOS_U_REGION_COUNT; ++i) {
    const uint64_t wanted = inspected->region_bytes[i];
    const uint32_t size = wanted > MAX_REGION ? MAX_REGION : (uint32_t)wanted;
    // Its end is the end of the allocation.
    uint8_t *memory = malloc(size == 0 ? 1 : size);
    if (memory == NULL) {
      abort();
    }
    memset(memory, i * 37, size);
    regions[i] = (ethos_u_region){memory, size, i != 0};
  }
  if (payload->weights_size < regions[0].size) {
    regions[0].size = payload->weights_size;
  }
  memcpy(regions[0].data, payload->weights, regions[0].size);
  uint64_t workspace_bytes = inspected->workspace_bytes;
  workspace_bytes = workspace_bytes > MAX_WORKSPACE ? MAX_WORKSPACE : workspace_bytes;
  void *workspace = allocate(workspace_bytes);
  const ethos_u_model_options options = {.check_hazards = true};
  ethos_u_model_summary summary;
  ethos_u_error error;
  const ethos_u_status status = ethos_u_model_run(&payload->stream, regions, workspace,
                                                  workspace_bytes, &options, &summary, &error);
  fuzz_executed += status == ETHOS_U_OK ? 1 : 0;
  free(workspace);
  for (int i = 0; i < ETHOS_U_REGION_COUNT; ++i) {
    free(regions[i].data);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *copy = allocate(size);
  memcpy(copy, data, size);
  ethos_u_payload payload;
  if (ethos_u_payload_parse(copy, size, &payload) == ETHOS_U_OK) {
    ++fuzz_parsed;
    read_tensors(&payload);
    void *workspace = allocate(ETHOS_U_MODEL_STATE_BYTES);
    ethos_u_model_summary summary;
    ethos_u_error error;
    const ethos_u_status status = ethos_u_model_inspect(
        &payload.stream, workspace, ETHOS_U_MODEL_STATE_BYTES, NULL, &summary, &error);
    free(workspace);
    fuzz_inspected += status == ETHOS_U_OK ? 1 : 0;
    // A stream refused halfway still runs up to there.
    if (summary.counts.macs <= MAX_MACS && bytes_moved(&summary.counts) <= MAX_BYTES) {
      execute(&payload, &summary);
    }
  }
  free(copy);
  return 0;
}
