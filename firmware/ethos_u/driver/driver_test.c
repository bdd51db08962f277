// SPDX-License-Identifier: Apache-2.0
// The driver against the fake NPU: its register writes, and its reaction to every fault.
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/ethos_u/driver/driver_fixture.h"
#include "npu/ethos_u/model/commands.h"
#include "npu/ethos_u/model/model_device.h"
#include "npu/ethos_u/testing/stream_builder.h"

enum { U85_256 = 0x20000118, U85_ID = 0x20006001 };

static ethos_u_model_device model;
static _Alignas(16) uint8_t model_workspace[ETHOS_U_MODEL_STATE_BYTES + 32 * 1024];

static void test_normal_runs(void) {
  begin();
  open_device();
  for (uint8_t i = 0; i < 3; ++i) {
    EXPECT_EQUAL(run(i), ETHOS_U_OK);
  }
  EXPECT_EQUAL(fake.runs, 3);
  EXPECT_EQUAL(driver.queue_position, copy_payload().stream.count * 4);
  EXPECT_EQUAL(cleaned, 3 * (copy_payload().stream.count * 4 + 256 + SCRATCH_SIZE));
  EXPECT_EQUAL(invalidated, 3 * SCRATCH_SIZE);
  EXPECT_EQUAL(fake.axi[0], 0x0F1F0020);
  EXPECT_EQUAL(fake.axi[2], 0x1F3F0021);
  EXPECT_EQUAL(fake.axi[3], 0x00070021);
  expect_no_violation(__LINE__);
}

static void test_interrupts(void) {
  begin();
  fake.interrupts = true;
  open_device();
  EXPECT_EQUAL(run(5), ETHOS_U_OK);
  EXPECT(driver.interrupted);
  EXPECT_EQUAL(run(6), ETHOS_U_OK);
  EXPECT_EQUAL(fake.interrupts_raised, 2);
  fake.behaviour = FAKE_ECC;
  EXPECT_EQUAL(run(7), ETHOS_U_ERROR_ECC);
  expect_recovery(__LINE__);
}

// Between start and wait the core is free, and nobody else gets the NPU.
static void test_split_calls(void) {
  const ethos_u_scratch scratch = {fake.memory + SCRATCH, SCRATCH_SIZE, NULL, 0};
  for (int interrupts = 0; interrupts < 2; ++interrupts) {
    begin();
    open_device();
    fake.interrupts = interrupts == 1;
    const ethos_u_payload payload = copy_payload();
    uint8_t input[TENSOR_BYTES] = {3, 1, 4};
    uint8_t output[TENSOR_BYTES] = {0};
    const void *inputs[] = {input};
    void *outputs[] = {output};
    EXPECT(ethos_u_has_ended(device));
    EXPECT_EQUAL(ethos_u_wait(device, &payload, &scratch, outputs), ETHOS_U_ERROR_NOT_STARTED);
    EXPECT_EQUAL(ethos_u_start(device, &payload, &scratch, inputs), ETHOS_U_OK);
    EXPECT(!ethos_u_has_ended(device));
    EXPECT_EQUAL(ethos_u_start(device, &payload, &scratch, inputs), ETHOS_U_ERROR_BUSY);
    EXPECT_EQUAL(run(1), ETHOS_U_ERROR_BUSY);
    EXPECT_EQUAL(fake.runs, 1);
    while (!ethos_u_has_ended(device)) {
      fake_npu_advance();
    }
    EXPECT_EQUAL(ethos_u_wait(device, &payload, &scratch, outputs), ETHOS_U_OK);
    EXPECT(memcmp(input, output, TENSOR_BYTES) == 0);
    EXPECT_EQUAL(ethos_u_wait(device, &payload, &scratch, outputs), ETHOS_U_ERROR_NOT_STARTED);
    fake.behaviour = FAKE_STUCK_RESET;
    EXPECT_EQUAL(ethos_u_start(device, &payload, &scratch, inputs), ETHOS_U_ERROR_RESET);
    expect_recovery(__LINE__);
  }
}

// An interrupt line that fires without cause, at every wait.
static void wait_disturbed(ethos_u_driver *waiting) {
  ethos_u_interrupt(waiting);
  fake_npu_wait(waiting);
}

static void test_spurious_interrupts(void) {
  begin();
  fake.interrupts = true;
  board.wait = wait_disturbed;
  open_device();
  ethos_u_interrupt(&driver);
  EXPECT_EQUAL(run(5), ETHOS_U_OK);
  EXPECT_EQUAL(run(6), ETHOS_U_OK);
  expect_no_violation(__LINE__);
}

static void test_polling_without_clock(void) {
  begin();
  board.ticks = NULL;
  board.wait = NULL;
  open_device();
  EXPECT_EQUAL(run(5), ETHOS_U_OK);
  fake.behaviour = FAKE_HANG;
  EXPECT_EQUAL(run(6), ETHOS_U_ERROR_TIMEOUT);
  expect_recovery(__LINE__);
}

static void test_memory_modes(void) {
  static const struct {
    ethos_u_memory_mode mode;
    uint32_t regions;
    uint32_t queue;
  } modes[] = {
      {ETHOS_U_SRAM_ONLY, 0x00, 0},
      {ETHOS_U_SHARED_SRAM, 0x03, 2},
      {ETHOS_U_DEDICATED_SRAM, 0x0B, 2},
  };
  for (uint32_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    begin();
    board = board_for(modes[i].mode);
    open_device();
    EXPECT_EQUAL(run(3), ETHOS_U_OK);
    EXPECT_EQUAL(fake.region_config, modes[i].regions);
    EXPECT_EQUAL(fake.queue_config, modes[i].queue);
    expect_no_violation(__LINE__);
  }
}

static void test_security_states(void) {
  begin();
  board.privileged = false;
  board.non_secure = true;
  open_device();
  EXPECT_EQUAL(run(3), ETHOS_U_OK);
  begin();
  fake.behaviour = FAKE_WRONG_STATE;
  EXPECT_EQUAL(ethos_u_open(&driver, &board, &device), ETHOS_U_ERROR_SECURITY);
  expect_recovery(__LINE__);
}

static void test_identification(void) {
  static const struct {
    fake_behaviour behaviour;
    uint32_t id;
  } others[] = {
      {FAKE_EMPTY_BUS, 0},
      {FAKE_OTHER_PRODUCT, 0x10066001},
      {FAKE_WORKS, 0x20066001},  // another architecture
  };
  for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    begin();
    const uint32_t id = fake.id;
    fake.behaviour = others[i].behaviour;
    fake.id = others[i].id;
    EXPECT_EQUAL(ethos_u_open(&driver, &board, &device), ETHOS_U_ERROR_NO_NPU);
    EXPECT(device == NULL);
    EXPECT_EQUAL(fake.resets, 0);
    fake.behaviour = FAKE_WORKS;
    fake.id = id;
    open_device();
    expect_recovery(__LINE__);
  }
  begin();
  fake.behaviour = FAKE_EMPTY_BUS;
  ethos_u_model_device_init(&model, model_workspace, sizeof(model_workspace), NULL);
  board.simulator = &model.device;
  EXPECT_EQUAL(ethos_u_open(&driver, &board, &device), ETHOS_U_OK);
  EXPECT(device == &model.device);
  EXPECT_EQUAL(run(9), ETHOS_U_OK);
  EXPECT_EQUAL(run(10), ETHOS_U_OK);
  EXPECT_EQUAL(fake.runs, 0);
  begin();
  board.simulator = &model.device;
  open_device();
  EXPECT_EQUAL(ethos_u_open(NULL, &board, &device), ETHOS_U_ERROR_NULL);
}

static void test_faults(void) {
  static const struct {
    fake_behaviour behaviour;
    ethos_u_status status;
  } faults[] = {
      {FAKE_BUS_ERROR, ETHOS_U_ERROR_BUS},
      {FAKE_WATCHDOG, ETHOS_U_ERROR_WATCHDOG},
      {FAKE_ECC, ETHOS_U_ERROR_ECC},
      {FAKE_HANG, ETHOS_U_ERROR_TIMEOUT},
      {FAKE_RESET_WHILE_RUNNING, ETHOS_U_ERROR_RESET},
      {FAKE_STUCK_RESET, ETHOS_U_ERROR_RESET},
      {FAKE_DEAF, ETHOS_U_ERROR_RESET},
      {FAKE_WRONG_STATE, ETHOS_U_ERROR_SECURITY},
  };
  for (uint32_t i = 0; i < sizeof(faults) / sizeof(faults[0]); ++i) {
    begin();
    open_device();
    EXPECT_EQUAL(run(1), ETHOS_U_OK);
    fake.behaviour = faults[i].behaviour;
    EXPECT_EQUAL(run(2), faults[i].status);
    EXPECT_EQUAL(run(3), faults[i].status);
    expect_recovery(__LINE__);
  }
}

static void test_fault_details(void) {
  begin();
  open_device();
  fake.behaviour = FAKE_BUS_ERROR;
  EXPECT_EQUAL(run(2), ETHOS_U_ERROR_BUS);
  EXPECT((driver.status & ETHOS_U_STATUS_FAULTING_INTERFACE) != 0);
  EXPECT_EQUAL(driver.status >> ETHOS_U_STATUS_FAULTING_CHANNEL & 15, 2);
  expect_recovery(__LINE__);
}

// Faults of the stream itself, as the NPU finds them.
static void test_bad_streams(void) {
  begin();
  open_device();
  ethos_u_payload payload = copy_payload();
  uint32_t *words = (uint32_t *)(void *)(fake.memory + STREAM);
  words[3] = 0x0200;
  EXPECT_EQUAL(run_payload(&payload, 1), ETHOS_U_ERROR_PARSE);
  EXPECT_EQUAL(driver.queue_position, 12);
  expect_recovery(__LINE__);
  payload = copy_payload();
  words[2] = FAKE_MEMORY_BYTES;  // IFM_BASE0
  EXPECT_EQUAL(run_payload(&payload, 1), ETHOS_U_ERROR_BUS);
  expect_recovery(__LINE__);
  payload = copy_payload();
  payload.stream.count = 5;  // ends without OP_STOP
  EXPECT_EQUAL(run_payload(&payload, 1), ETHOS_U_ERROR_PARSE);
  expect_recovery(__LINE__);
}

static void test_pmu(void) {
  begin();
  open_device();
  EXPECT_EQUAL(run(1), ETHOS_U_OK);
  EXPECT_EQUAL(driver.pmu.cycles, 0);
  driver.pmu = (ethos_u_pmu){.enabled = true, .events = {35, 0, 48, 130}};
  EXPECT_EQUAL(run(2), ETHOS_U_OK);
  EXPECT_EQUAL(driver.pmu.cycles >> 32, 7);
  EXPECT((uint32_t)driver.pmu.cycles > 0);
  EXPECT_EQUAL(driver.pmu.counts[0], 1035);
  EXPECT_EQUAL(driver.pmu.counts[1], 0);
  EXPECT_EQUAL(driver.pmu.counts[2], 1048);
  EXPECT_EQUAL(driver.pmu.counts[3], 1130);
  EXPECT_EQUAL(driver.pmu.overflowed, 0);
  expect_no_violation(__LINE__);
}

// On U85: the same, with its attributes, limits of ports, and counters elsewhere.
static void begin_u85(void) {
  begin();
  fake.config = U85_256;
  fake.model_config = U85_256;
  fake.id = U85_ID;
  open_device();
}

static ethos_u_payload payload_for_u85(void) {
  static const uint32_t commands[][3] = {
      {NPU_SET_DMA0_SRC_REGION, 1, 0}, {NPU_SET_DMA0_SRC, 0, 16}, {NPU_SET_DMA0_DST_REGION, 1, 0},
      {NPU_SET_DMA0_DST, 0, 64},       {NPU_SET_DMA0_LEN, 0, 24}, {NPU_OP_DMA_START, 0, 0},
      {NPU_OP_STOP, 0xFFFF, 0},
  };
  stream_builder builder;
  stream_begin(&builder);
  for (uint32_t i = 0; i < sizeof(commands) / sizeof(commands[0]); ++i) {
    stream_add(&builder, commands[i][0], commands[i][1], commands[i][2]);
  }
  ethos_u_payload payload = copy_payload();
  memcpy(fake.memory + STREAM, builder.words, sizeof(builder.words));
  payload.stream.count = builder.stream.count;
  payload.stream.config = U85_256;
  payload.stream.id = U85_ID;
  return payload;
}

static void test_u85(void) {
  begin_u85();
  ethos_u_payload payload = payload_for_u85();
  driver.pmu = (ethos_u_pmu){.enabled = true, .events = {35, 0, 48, 130}};
  EXPECT_EQUAL(run_payload(&payload, 1), ETHOS_U_OK);
  EXPECT_EQUAL(fake.axi[0], 0x20);
  EXPECT_EQUAL(fake.axi[1], 0x20);
  EXPECT_EQUAL(fake.axi[2], 0x24);
  EXPECT_EQUAL(fake.axi[3], 0x24);
  EXPECT_EQUAL(fake.axi[4], 0x00000F1F);
  EXPECT_EQUAL(fake.axi[5], 0x00011F3F);
  EXPECT_EQUAL(fake.region_config, 0x03);
  EXPECT_EQUAL(fake.queue_config, 2);
  EXPECT_EQUAL(driver.pmu.cycles >> 32, 7);
  EXPECT_EQUAL(driver.pmu.counts[2], 1048);
  fake.behaviour = FAKE_BRANCH;
  EXPECT_EQUAL(run_payload(&payload, 2), ETHOS_U_ERROR_PARSE);
  fake.behaviour = FAKE_WORKS;
  EXPECT_EQUAL(run_payload(&payload, 3), ETHOS_U_OK);
  expect_no_violation(__LINE__);
}

static void test_streams_for_another_u85(void) {
  static const struct {
    uint32_t config;
    uint32_t id;
  } others[] = {
      {U85_256 ^ 1, U85_ID},                            // MACs
      {U85_256 ^ 0x100, U85_ID},                        // AXI ports
      {U85_256 ^ 0x400, U85_ID}, {0x10003008, U85_ID},  // product
      {U85_256, 0x10066001},                            // architecture
  };
  for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    begin_u85();
    ethos_u_payload payload = payload_for_u85();
    payload.stream.config = others[i].config;
    payload.stream.id = others[i].id;
    EXPECT_EQUAL(run_payload(&payload, 1), ETHOS_U_ERROR_CONFIG);
    EXPECT_EQUAL(fake.runs, 0);
  }
  begin();
  fake.config = U85_256;  // with the architecture of a U55
  EXPECT_EQUAL(ethos_u_open(&driver, &board, &device), ETHOS_U_ERROR_NO_NPU);
}

int main(void) {
  test_normal_runs();
  test_interrupts();
  test_split_calls();
  test_spurious_interrupts();
  test_polling_without_clock();
  test_memory_modes();
  test_security_states();
  test_identification();
  test_faults();
  test_fault_details();
  test_bad_streams();
  test_pmu();
  test_u85();
  test_streams_for_another_u85();
  return expect_report();
}
