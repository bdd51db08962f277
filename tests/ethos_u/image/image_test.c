// SPDX-License-Identifier: Apache-2.0
// Runs payloads of the corpus in the same way as firmware: identify the NPU, or take the functional
// model, then run. Compares the outputs. Prints the stack and workspace used.
#include "boards/common/print.h"
#include "boards/common/stack.h"
#include "firmware/ethos_u/driver/this_board.h"
#include "npu/ethos_u/model/model_device.h"
#include "tests/ethos_u/image/cases.h"

static ethos_u_model_device model;
static ethos_u_driver driver;

static uint32_t crc32(uint32_t crc, const uint8_t *data, uint32_t size) {
  crc = ~crc;
  for (uint32_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
    }
  }
  return ~crc;
}

static ethos_u_status run(ethos_u_device *device, const image_case *c, uint32_t *crc) {
  const ethos_u_scratch scratch = {image.scratch, image.scratch_bytes, image.fast_scratch,
                                   image.fast_scratch_bytes};
  // Outputs stay where they are.
  void *outputs[8] = {0};
  ethos_u_payload payload;
  ethos_u_status status = ethos_u_payload_parse(c->payload, c->payload_size, &payload);
  if (status == ETHOS_U_OK) {
    status = ethos_u_run(device, &payload, &scratch, c->inputs, outputs);
  }
  *crc = 0;
  for (uint32_t i = 0; status == ETHOS_U_OK && i < payload.output_count; ++i) {
    ethos_u_tensor tensor;
    status = ethos_u_payload_output(&payload, i, &tensor);
    if (status == ETHOS_U_OK) {
      *crc = crc32(*crc, ethos_u_scratch_tensor(&scratch, &tensor), tensor.bytes);
    }
  }
  return status;
}

static void print_stat(const char *name, uint32_t value) {
  pl_print("PL:STAT ");
  pl_print(name);
  pl_print(" ");
  pl_print_u32(value);
  pl_print("\n");
}

int main(void) {
  ethos_u_device *device = NULL;
  uint32_t failures = 0;
  ethos_u_model_device_init(&model, image.workspace, image.workspace_bytes, NULL);
  const ethos_u_board board = ethos_u_this_board(&model.device);
  if (ethos_u_open(&driver, &board, &device) != ETHOS_U_OK || device != &model.device) {
    pl_print("PL:FAIL the board is not simulated\n");
    return 1;
  }
  for (uint32_t i = 0; i < image.count; ++i) {
    const image_case *c = &image.cases[i];
    uint32_t crc = 0;
    const ethos_u_status status = run(device, c, &crc);
    pl_print(c->name);
    if (status == ETHOS_U_OK && crc == c->output_crc) {
      pl_print(": exact\n");
      continue;
    }
    ++failures;
    pl_print(status == ETHOS_U_OK ? ": differs\n" : ": ");
    if (status != ETHOS_U_OK) {
      pl_print(ethos_u_status_name(status));
      pl_print(" in command ");
      pl_print_u32(model.error.command);
      pl_print("\n");
    }
  }
  print_stat("workspace", image.workspace_bytes);
  print_stat("stack", pl_stack_used());
  pl_print(failures == 0 ? "PL:PASS\n" : "PL:FAIL\n");
  return failures == 0 ? 0 : 1;
}
