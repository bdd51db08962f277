// SPDX-License-Identifier: Apache-2.0
#include "firmware/ethos_u/driver/driver_fixture.h"

#include <string.h>

#include "boards/common/expect.h"
#include "npu/ethos_u/model/commands.h"
#include "npu/ethos_u/testing/stream_builder.h"

enum { WEIGHTS = 1024 };

// I/O entries of a payload: shape 1x1x1x2x3x4, int8, at an offset of region 1.
static const uint32_t INPUT[] = {1, 1, 1, 2, 3, 4, 1, 16, 1};
static const uint32_t OUTPUT[] = {1, 1, 1, 2, 3, 4, 1, 64, 1};

ethos_u_board board;
ethos_u_driver driver;
ethos_u_device *device;
uint32_t cleaned;
uint32_t invalidated;
static uint32_t now;

static uint32_t ticks(void) { return now += 10; }

static void clean(const void *data, uint32_t size) {
  (void)data;
  cleaned += size;
}

static void invalidate(const void *data, uint32_t size) {
  EXPECT(data == fake.memory + SCRATCH);
  invalidated += size;
}

ethos_u_board board_for(ethos_u_memory_mode mode) {
  return (ethos_u_board){
      .base = FAKE_BASE,
      .privileged = true,
      .memory_mode = mode,
      .axi_limits = {{0, 2, 32, 16}, {0, 2, 32, 16}, {1, 2, 64, 32}, {1, 2, 8, 1}},
      .ticks = ticks,
      .reset_ticks = 1000,
      .run_ticks = 100000,
      .wait = fake_npu_wait,
      .bus_address = fake_npu_bus_address,
      .cache_clean = clean,
      .cache_invalidate = invalidate,
  };
}

void begin(void) {
  fake_npu_power_on();
  board = board_for(ETHOS_U_SHARED_SRAM);
  cleaned = 0;
  invalidated = 0;
}

void open_device(void) {
  EXPECT_EQUAL(ethos_u_open(&driver, &board, &device), ETHOS_U_OK);
  EXPECT(device == &driver.device);
}

ethos_u_payload copy_payload(void) {
  stream_builder builder;
  stream_begin(&builder);
  stream_add_copy(&builder);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
  memcpy(fake.memory + STREAM, builder.words, sizeof(builder.words));
  return (ethos_u_payload){
      .stream = {(const uint32_t *)(const void *)(fake.memory + STREAM), builder.stream.count,
                 0x00001807, 0x10066001},
      .weights = fake.memory + WEIGHTS,
      .weights_size = 256,
      .scratch_size = SCRATCH_SIZE,
      .input_count = 1,
      .output_count = 1,
      .inputs = (const uint8_t *)INPUT,
      .outputs = (const uint8_t *)OUTPUT,
  };
}

ethos_u_status run_payload(const ethos_u_payload *payload, uint8_t seed) {
  const ethos_u_scratch scratch = {fake.memory + SCRATCH, SCRATCH_SIZE, NULL, 0};
  uint8_t input[TENSOR_BYTES];
  uint8_t output[TENSOR_BYTES];
  for (uint32_t i = 0; i < TENSOR_BYTES; ++i) {
    input[i] = (uint8_t)(seed + i * 11);
    output[i] = 0;
  }
  const void *inputs[] = {input};
  void *outputs[] = {output};
  const ethos_u_status status = ethos_u_run(device, payload, &scratch, inputs, outputs);
  EXPECT(status != ETHOS_U_OK || memcmp(input, output, TENSOR_BYTES) == 0);
  return status;
}

ethos_u_status run(uint8_t seed) {
  const ethos_u_payload payload = copy_payload();
  return run_payload(&payload, seed);
}

void expect_no_violation(int line) {
  expect(fake.violations == 0, fake.violation == NULL ? "protocol" : fake.violation, line);
}

void expect_recovery(int line) {
  fake.behaviour = FAKE_WORKS;
  expect_equal(run(1), ETHOS_U_OK, "first run after it", line);
  expect_equal(run(2), ETHOS_U_OK, "second run after it", line);
  expect_no_violation(line);
}
