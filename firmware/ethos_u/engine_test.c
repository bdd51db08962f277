// SPDX-License-Identifier: Apache-2.0
#include "firmware/ethos_u/engine.h"

#include <stdalign.h>
#include <string.h>

#include "boards/common/expect.h"
#include "npu/ethos_u/model/commands.h"
#include "npu/ethos_u/model/model_device.h"
#include "npu/ethos_u/testing/stream_builder.h"

enum { TENSOR_BYTES = 24, SCRATCH_BYTES = 96, PAYLOAD_BYTES = 4096, U55_128 = 0x00001807 };

// Count, then an entry: shape 1x1x1x2x3x4, int8, at an offset of region 1.
static const uint32_t INPUTS[] = {1, 1, 1, 1, 2, 3, 4, 1, 16, 1};
static const uint32_t OUTPUTS[] = {1, 1, 1, 1, 2, 3, 4, 1, 64, 1};

static alignas(16) uint8_t payload[PAYLOAD_BYTES];
static uint32_t payload_bytes;
static alignas(16) uint8_t scratch[SCRATCH_BYTES];
static alignas(16) uint8_t workspace[1 << 16];
static alignas(16) int8_t input[TENSOR_BYTES];
static alignas(16) int8_t output[TENSOR_BYTES];
static ethos_u_model_device model;
static ethos_u_npu npu;

static void add_block(const char *name, const void *data, uint32_t size) {
  uint8_t *const header = payload + payload_bytes;
  memset(header, 0, 32);
  memcpy(header, name, strlen(name));
  memcpy(header + 16, &size, sizeof size);
  memcpy(header + 32, data, size);
  payload_bytes += 32 + ((size + 15) & ~15u);
  EXPECT(payload_bytes <= PAYLOAD_BYTES);
}

// Builds a payload that copies its input to its output, for an NPU of this CONFIG.
static void build(uint32_t config) {
  static uint32_t commands[8 + STREAM_WORDS];
  stream_builder builder;
  stream_begin(&builder);
  stream_add_copy(&builder);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
  const uint32_t count = builder.stream.count;
  const uint32_t actions[8] = {0x31504F43, 0x00100001, config, 0x10066001,
                               5,          5,          5,      2 | count << 16};
  memcpy(commands, actions, sizeof actions);
  memcpy(commands + 8, builder.words, count * 4);
  const uint32_t size = SCRATCH_BYTES;
  payload_bytes = 0;
  add_block("vela_bin_stream", "", 0);
  add_block("cmd_data", commands, (8 + count) * 4);
  add_block("weight_data", "", 0);
  add_block("scratch_size", &size, sizeof size);
  add_block("inputs", INPUTS, sizeof INPUTS);
  add_block("outputs", OUTPUTS, sizeof OUTPUTS);
  add_block("vela_end_stream", "", 0);
}

// Runs the payload on buffers of these sizes; checks the results of a successful run.
static pl_status run(pl_engine *engine, uint32_t input_bytes, uint32_t scratch_bytes) {
  const pl_delegate_input inputs[] = {{input, input_bytes}};
  const pl_delegate_output outputs[] = {{output, TENSOR_BYTES}};
  const pl_delegate_data delegate = {
      .backend = "EthosUBackend",
      .configuration = "ethos-u55-128",
      .payload = payload,
      .payload_bytes = payload_bytes,
      .inputs = inputs,
      .outputs = outputs,
      .input_count = 1,
      .output_count = 1,
  };
  const pl_context context = {scratch, scratch_bytes};
  for (int i = 0; i < TENSOR_BYTES; ++i) {
    input[i] = (int8_t)(i * 7 - 60);
    output[i] = 0;
  }
  const pl_status status = engine->run(engine, &context, &delegate);
  EXPECT((status == PL_OK) == (memcmp(input, output, TENSOR_BYTES) == 0));
  return status;
}

static void expect_run(pl_engine *engine, pl_status status, pl_status expected, ethos_u_status code,
                       int line) {
  expect_equal(status, expected, "status", line);
  expect_equal(engine->code, code, "code", line);
  expect(strcmp(engine->text, code == ETHOS_U_OK ? "" : ethos_u_status_name(code)) == 0, "text",
         line);
}

#define EXPECT_RUN(status, expected, code) \
  expect_run(&engine, (status), (expected), (code), __LINE__)

static ethos_u_status bus_error(ethos_u_device *device, const ethos_u_stream *stream,
                                const ethos_u_region *regions) {
  (void)device;
  (void)stream;
  (void)regions;
  return ETHOS_U_ERROR_BUS;
}

int main(void) {
  ethos_u_model_device_init(&model, workspace, sizeof workspace, NULL);
  npu.device = &model.device;
  pl_engine engine = ethos_u_engine(&npu, "ethos-u55-128");
  EXPECT(strcmp(engine.backend, "EthosUBackend") == 0);

  build(U55_128);
  EXPECT_RUN(run(&engine, TENSOR_BYTES, SCRATCH_BYTES), PL_OK, ETHOS_U_OK);
  EXPECT_RUN(run(&engine, TENSOR_BYTES - 1, SCRATCH_BYTES), PL_ERROR_DELEGATE_PAYLOAD,
             ETHOS_U_ERROR_PAYLOAD);
  EXPECT_RUN(run(&engine, TENSOR_BYTES, SCRATCH_BYTES - 1), PL_ERROR_SCRATCH_SIZE,
             ETHOS_U_ERROR_SCRATCH_SIZE);
  payload_bytes -= 32;
  EXPECT_RUN(run(&engine, TENSOR_BYTES, SCRATCH_BYTES), PL_ERROR_DELEGATE_PAYLOAD,
             ETHOS_U_ERROR_PAYLOAD);

  build(U55_128);
  ethos_u_device broken = {.start = bus_error};
  npu.device = &broken;
  EXPECT_RUN(run(&engine, TENSOR_BYTES, SCRATCH_BYTES), PL_ERROR_DELEGATE_RUN, ETHOS_U_ERROR_BUS);
  npu.device = &model.device;
  EXPECT_RUN(run(&engine, TENSOR_BYTES, SCRATCH_BYTES), PL_OK, ETHOS_U_OK);
  return expect_report();
}
