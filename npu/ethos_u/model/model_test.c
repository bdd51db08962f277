// SPDX-License-Identifier: Apache-2.0
// Refusals of the model, and the reported positions of faults; streams written by hand.
#include "npu/ethos_u/model/model.h"

#include <string.h>

#include "boards/common/expect.h"
#include "npu/ethos_u/model/commands.h"
#include "npu/ethos_u/testing/stream_builder.h"

enum {
  CONSTANTS = 256,
  SCRATCH = 96,
  GUARD = 16,
  WORKSPACE = ETHOS_U_MODEL_STATE_BYTES + 24 * 1024,
  SHRAM = 24 * 1024,
};

static _Alignas(16) uint8_t workspace[WORKSPACE] __attribute__((section(".bss.pl_arena.sram")));
static _Alignas(16) uint8_t constants[CONSTANTS];
static _Alignas(16) uint8_t scratch[SCRATCH + GUARD];
static stream_builder builder;
static ethos_u_model_summary summary;
static ethos_u_error error;
static ethos_u_model_options options;
static uint32_t scratch_size = SCRATCH;
static bool scratch_writable = true;
static uint32_t observed;

static void observe(void *context, const ethos_u_model_operation *operation) {
  *(ethos_u_model_operation *)context = *operation;
  ++observed;
}

static void begin(void) {
  stream_begin(&builder);
  options = (ethos_u_model_options){.check_hazards = true};
  scratch_size = SCRATCH;
  scratch_writable = true;
  observed = 0;
  for (uint32_t i = 0; i < sizeof(scratch); ++i) {
    scratch[i] = (uint8_t)(i * 7 + 1);
  }
  for (uint32_t i = 0; i < sizeof(constants); ++i) {
    constants[i] = (uint8_t)(255 - i);
  }
}

static void begin_copy(void) {
  begin();
  stream_add_copy(&builder);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
}

static ethos_u_status run_with(uint64_t workspace_bytes) {
  const ethos_u_region regions[ETHOS_U_REGION_COUNT] = {
      {constants, CONSTANTS, false},
      {scratch, scratch_size, scratch_writable},
  };
  const ethos_u_status status = ethos_u_model_run(&builder.stream, regions, workspace,
                                                  workspace_bytes, &options, &summary, &error);
  EXPECT_EQUAL(status, error.status);
  for (uint32_t i = SCRATCH; i < sizeof(scratch); ++i) {
    EXPECT_EQUAL(scratch[i], (uint8_t)(i * 7 + 1));
  }
  return status;
}

static ethos_u_status run(void) { return run_with(WORKSPACE); }

static void expect_status(ethos_u_status status, uint32_t opcode, uint32_t field) {
  EXPECT_EQUAL(run(), status);
  EXPECT_EQUAL(error.opcode, opcode);
  EXPECT_EQUAL(error.field, field);
}

static void test_copy(void) {
  ethos_u_model_operation operation = {0};
  begin_copy();
  options.observer = observe;
  options.observer_context = &operation;
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  EXPECT(memcmp(scratch + 16, scratch + 64, 24) == 0);
  EXPECT_EQUAL(summary.operations, 1);
  EXPECT_EQUAL(summary.commands, 51);
  EXPECT_EQUAL(summary.region_bytes[1], 88);
  EXPECT_EQUAL(observed, 1);
  EXPECT_EQUAL(operation.command, 49);
  EXPECT_EQUAL(operation.opcode, NPU_OP_POOL);
  EXPECT_EQUAL(operation.ofm_shape[0], 2);
  EXPECT_EQUAL(operation.ofm_shape[1], 3);
  EXPECT_EQUAL(operation.ofm_shape[2], 4);
  EXPECT_EQUAL(operation.counts.read[1], 24);
  EXPECT_EQUAL(operation.counts.written[1], 24);
  EXPECT(operation.counts.cycles > 0);
}

static void test_inspection(void) {
  begin_copy();
  EXPECT_EQUAL(ethos_u_model_inspect(&builder.stream, workspace, ETHOS_U_MODEL_STATE_BYTES, NULL,
                                     &summary, &error),
               ETHOS_U_OK);
  const uint64_t needed = summary.workspace_bytes;
  EXPECT(needed > ETHOS_U_MODEL_STATE_BYTES && needed <= WORKSPACE);
  EXPECT_EQUAL(run_with(needed), ETHOS_U_OK);
  begin_copy();
  EXPECT_EQUAL(run_with(needed - 1), ETHOS_U_ERROR_WORKSPACE);
  EXPECT_EQUAL(error.value, needed);
  EXPECT_EQUAL(run_with(ETHOS_U_MODEL_STATE_BYTES - 1), ETHOS_U_ERROR_WORKSPACE);
  EXPECT_EQUAL(ethos_u_model_inspect(&builder.stream, workspace + 8, ETHOS_U_MODEL_STATE_BYTES,
                                     NULL, &summary, &error),
               ETHOS_U_ERROR_ALIGNMENT);
  EXPECT_EQUAL(
      ethos_u_model_inspect(NULL, workspace, ETHOS_U_MODEL_STATE_BYTES, NULL, &summary, &error),
      ETHOS_U_ERROR_NULL);
}

static void test_streams(void) {
  begin_copy();
  builder.words[3] = 0x0200;
  expect_status(ETHOS_U_ERROR_COMMAND, 0x0200, ETHOS_U_NO_FIELD);
  EXPECT_EQUAL(error.command, 2);
  EXPECT_EQUAL(error.offset, 3);
  begin_copy();
  stream_change(&builder, NPU_SET_IFM_PAD_TOP, 0x80, 0);
  expect_status(ETHOS_U_ERROR_FIELD, NPU_SET_IFM_PAD_TOP, NPU_SET_IFM_PAD_TOP);
  begin_copy();
  builder.stream.count -= 1;
  expect_status(ETHOS_U_ERROR_STREAM_END, ETHOS_U_NO_FIELD, ETHOS_U_NO_FIELD);
  EXPECT_EQUAL(error.command, 50);
  begin_copy();
  builder.stream.count = 2;
  expect_status(ETHOS_U_ERROR_STREAM_END, NPU_SET_IFM_BASE0, ETHOS_U_NO_FIELD);
  begin_copy();
  stream_remove(&builder, NPU_SET_OFM_STRIDE_Y);
  expect_status(ETHOS_U_ERROR_NOT_SET, NPU_OP_POOL, NPU_SET_OFM_STRIDE_Y);
  begin_copy();
  builder.stream.config = 0x1808;
  EXPECT_EQUAL(run(), ETHOS_U_ERROR_CONFIG);
  begin();
  stream_add(&builder, NPU_SET_PARALLEL_MODE, 0, 0);
  expect_status(ETHOS_U_ERROR_COMMAND, NPU_SET_PARALLEL_MODE, ETHOS_U_NO_FIELD);
  begin();
  builder.stream.config = 0x10003008;
  stream_add(&builder, NPU_SET_PARALLEL_MODE, 1, 0);
  expect_status(ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_PARALLEL_MODE, NPU_SET_PARALLEL_MODE);
}

static void test_addresses(void) {
  begin_copy();
  stream_change(&builder, NPU_SET_OFM_BASE0, 0, SCRATCH - 23);
  expect_status(ETHOS_U_ERROR_ADDRESS, NPU_OP_POOL, NPU_SET_OFM_REGION);
  EXPECT_EQUAL(error.value, SCRATCH + 1);
  begin_copy();
  stream_change(&builder, NPU_SET_OFM_BASE0, 0, SCRATCH - 24);
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  begin_copy();
  stream_change(&builder, NPU_SET_IFM_STRIDE_Y, 0xFF,
                0xFFFFFFF4);  // -12, from offset 16: -4 is needed
  stream_change(&builder, NPU_SET_IFM_BASE0, 0, 8);
  expect_status(ETHOS_U_ERROR_ADDRESS, NPU_OP_POOL, NPU_SET_IFM_REGION);
  EXPECT_EQUAL(error.value, -4);
  begin_copy();
  stream_change(&builder, NPU_SET_IFM_BASE0, 1, 16);
  expect_status(ETHOS_U_ERROR_ADDRESS, NPU_OP_POOL, NPU_SET_IFM_REGION);
  begin_copy();
  stream_change(&builder, NPU_SET_IFM_STRIDE_X, 0, 0);
  expect_status(ETHOS_U_ERROR_UNSUPPORTED, NPU_OP_POOL, NPU_SET_IFM_STRIDE_X);
  begin_copy();
  stream_change(&builder, NPU_SET_OFM_REGION, 0, 0);
  expect_status(ETHOS_U_ERROR_READ_ONLY, NPU_OP_POOL, NPU_SET_OFM_REGION);
  begin_copy();
  scratch_writable = false;
  expect_status(ETHOS_U_ERROR_READ_ONLY, NPU_OP_POOL, NPU_SET_OFM_REGION);
  begin_copy();
  stream_change(&builder, NPU_SET_OFM_REGION, 5, 0);
  expect_status(ETHOS_U_ERROR_ADDRESS, NPU_OP_POOL, NPU_SET_OFM_REGION);
  begin_copy();
  stream_change(&builder, NPU_SET_OFM_PRECISION, 0x141, 0);
  stream_change(&builder, NPU_SET_OFM_BASE0, 0, 8);
  expect_status(ETHOS_U_ERROR_FIELD, NPU_OP_POOL, NPU_SET_OFM_BASE0);
}

static void test_unknown_arithmetic(void) {
  static const struct {
    uint32_t key;
    uint32_t parameter;
    uint32_t payload;
  } changes[] = {
      {NPU_SET_OFM_PRECISION, 0x4101, 0},  // truncation
      {NPU_SET_OFM_PRECISION, 0x0107, 0},  // 64 bits
      {NPU_SET_ACTIVATION, 3, 0},          // tanh
      {NPU_SET_ACTIVATION, 4, 0},          // sigmoid
      {NPU_SET_ACTIVATION, 0x5000, 0},     // a clip range different from the OFM's
      {NPU_SET_ACC_FORMAT, 2, 0},          // float accumulators
      {NPU_SET_IFM_UPSCALE, 2, 0},         // a pool over inserted zeros
  };
  for (uint32_t i = 0; i < sizeof(changes) / sizeof(changes[0]); ++i) {
    begin_copy();
    stream_change(&builder, changes[i].key, changes[i].parameter, changes[i].payload);
    expect_status(ETHOS_U_ERROR_UNSUPPORTED, NPU_OP_POOL, changes[i].key);
  }
  begin_copy();
  stream_change(&builder, NPU_OP_POOL, 3, 0);
  expect_status(ETHOS_U_ERROR_FIELD, NPU_OP_POOL, NPU_OP_POOL);
  begin_copy();
  stream_change(&builder, NPU_SET_ACTIVATION_MAX, 128, 0);
  expect_status(ETHOS_U_ERROR_FIELD, NPU_OP_POOL, NPU_SET_ACTIVATION_MIN);
}

// An elementwise operation on four 32-bit numbers and, if it takes two operands, on 3.
static void begin_elementwise(uint32_t mode) {
  begin_copy();
  builder.stream.count -= 2;  // OP_POOL and OP_STOP
  stream_change(&builder, NPU_SET_OFM_HEIGHT_M1, 0, 0);
  stream_change(&builder, NPU_SET_OFM_WIDTH_M1, 0, 0);
  stream_change(&builder, NPU_SET_IFM_PRECISION, 0x009, 0);
  stream_change(&builder, NPU_SET_OFM_PRECISION, 0x105, 0);
  stream_add(&builder, NPU_SET_IFM2_BROADCAST, 0x80, 0);
  stream_add(&builder, NPU_SET_IFM2_PRECISION, 0x009, 0);
  stream_add(&builder, NPU_SET_IFM2_SCALAR, 3, 0);
  stream_add(&builder, NPU_SET_IFM2_ZERO_POINT, 0, 0);
  stream_add(&builder, NPU_OP_ELEMENTWISE, mode, 0);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
}

static void begin_abs(void) { begin_elementwise(6); }

static void test_numbers_of_32_bits(void) {
  static const int32_t in[4] = {-5, 7, INT32_MIN + 1, 0};
  static const int32_t out[4] = {5, 7, INT32_MAX, 0};
  begin_abs();
  memcpy(scratch + 16, in, sizeof(in));
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  EXPECT(memcmp(scratch + 64, out, sizeof(out)) == 0);
  // Its magnitude does not fit 32 bits.
  memset(scratch + 16, 0, 3);
  scratch[19] = 0x80;
  expect_status(ETHOS_U_ERROR_OVERFLOW, NPU_OP_ELEMENTWISE, NPU_SET_OFM_PRECISION);
  begin_abs();
  stream_change(&builder, NPU_SET_IFM_ZERO_POINT, 4, 0);
  expect_status(ETHOS_U_ERROR_UNSUPPORTED, NPU_OP_ELEMENTWISE, NPU_SET_IFM_ZERO_POINT);
}

// A clip range of int16 saturates what is stored as int32.
static void test_a_narrower_clip_range(void) {
  static const int32_t in[4] = {-5, 7, INT32_MIN + 1, 40000};
  static const int32_t out[4] = {6, 7, INT16_MAX, INT16_MAX};
  begin_abs();
  stream_change(&builder, NPU_SET_ACTIVATION, 0x5000, 0);
  stream_change(&builder, NPU_SET_ACTIVATION_MIN, 6, 0);
  stream_change(&builder, NPU_SET_ACTIVATION_MAX, INT16_MAX, 0);
  memcpy(scratch + 16, in, sizeof(in));
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  EXPECT(memcmp(scratch + 64, out, sizeof(out)) == 0);
  stream_change(&builder, NPU_SET_ACTIVATION_MAX, 5, 0);
  expect_status(ETHOS_U_ERROR_FIELD, NPU_OP_ELEMENTWISE, NPU_SET_ACTIVATION_MIN);
  stream_change(&builder, NPU_SET_ACTIVATION, 0x3000, 0);
  expect_status(ETHOS_U_ERROR_UNSUPPORTED, NPU_OP_ELEMENTWISE, NPU_SET_ACTIVATION);
}

// MIN, MAX, CLZ, SHR and SHL have no scale: any but 1 is refused.
static void test_operations_without_a_scale(void) {
  static const int32_t in[4] = {-5, 7, 2, 0x00F00000};
  static const struct {
    uint32_t mode;
    int32_t out[4];
  } operations[] = {
      {3, {-5, 3, 2, 3}},          {4, {3, 7, 3, 0x00F00000}},     {7, {0, 29, 30, 8}},
      {8, {-1, 1, 0, 0x001E0000}}, {9, {-40, 56, 16, 0x07800000}},
  };
  for (uint32_t i = 0; i < sizeof(operations) / sizeof(operations[0]); ++i) {
    begin_elementwise(operations[i].mode);
    stream_change(&builder, NPU_SET_OFM_PRECISION, 0x8105, 0);  // natural rounding, for SHR
    memcpy(scratch + 16, in, sizeof(in));
    EXPECT_EQUAL(run(), ETHOS_U_OK);
    EXPECT(memcmp(scratch + 64, operations[i].out, sizeof(in)) == 0);
    stream_change(&builder, NPU_SET_OFM_SCALE, 0, 2);
    expect_status(ETHOS_U_ERROR_UNSUPPORTED, NPU_OP_ELEMENTWISE, NPU_SET_OFM_SCALE);
    stream_change(&builder, NPU_SET_OFM_SCALE, 1, 1);
    expect_status(ETHOS_U_ERROR_UNSUPPORTED, NPU_OP_ELEMENTWISE, NPU_SET_OFM_SCALE);
    stream_remove(&builder, NPU_SET_OFM_SCALE);
    expect_status(ETHOS_U_ERROR_NOT_SET, NPU_OP_ELEMENTWISE, NPU_SET_OFM_SCALE);
  }
}

static void test_lut(void) {
  const uint32_t lut = SHRAM - 2048;
  begin();
  stream_add_transfer(&builder, lut + 512, 256, 1);
  stream_add(&builder, NPU_OP_DMA_WAIT, 0, 0);
  stream_add_copy(&builder);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
  stream_change(&builder, NPU_SET_ACTIVATION, 18, 0);
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  for (uint32_t i = 0; i < 24; ++i) {
    EXPECT_EQUAL(scratch[64 + i], constants[(uint8_t)(scratch[16 + i] + 128)]);
  }
  stream_change(&builder, NPU_SET_ACTIVATION, 17, 0);
  expect_status(ETHOS_U_ERROR_NOT_SET, NPU_OP_POOL, NPU_SET_ACTIVATION);
  begin();
  stream_add_transfer(&builder, SHRAM, 256, 1);
  expect_status(ETHOS_U_ERROR_ADDRESS, NPU_OP_DMA_START, NPU_SET_DMA0_DST);
  begin();
  stream_add_transfer(&builder, lut - 256, 256, 1);
  expect_status(ETHOS_U_ERROR_ADDRESS, NPU_OP_DMA_START, NPU_SET_DMA0_DST);
}

static void test_transfers(void) {
  begin();
  stream_add_transfer(&builder, 8, 80, 0);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  EXPECT(memcmp(scratch + 8, constants, 80) == 0);
  stream_change(&builder, NPU_SET_DMA0_LEN, 0, SCRATCH - 7);
  expect_status(ETHOS_U_ERROR_ADDRESS, NPU_OP_DMA_START, NPU_SET_DMA0_DST_REGION);
  stream_change(&builder, NPU_SET_DMA0_LEN, 0, 0);
  expect_status(ETHOS_U_ERROR_FIELD, NPU_OP_DMA_START, NPU_SET_DMA0_LEN);
  stream_change(&builder, NPU_SET_DMA0_LEN, 0, 16);
  stream_change(&builder, NPU_SET_DMA0_DST_REGION, 1 << 9 | 1, 0);
  expect_status(ETHOS_U_ERROR_UNSUPPORTED, NPU_OP_DMA_START, NPU_SET_DMA0_DST_REGION);
}

static void test_hazards(void) {
  // A kernel reads bytes of an unfinished transfer.
  begin();
  stream_add_transfer(&builder, 24, 16, 0);
  stream_add_copy(&builder);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
  expect_status(ETHOS_U_ERROR_HAZARD, NPU_OP_POOL, ETHOS_U_NO_FIELD);
  options.check_hazards = false;
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  begin();
  stream_add_transfer(&builder, 24, 16, 0);
  stream_add(&builder, NPU_OP_DMA_WAIT, 0, 0);
  stream_add_copy(&builder);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  // A transfer writes bytes still read by a kernel; after it no kernel bytes follow.
  begin();
  stream_add_copy(&builder);
  stream_add_transfer(&builder, 24, 16, 0);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
  expect_status(ETHOS_U_ERROR_HAZARD, NPU_OP_DMA_START, ETHOS_U_NO_FIELD);
  stream_change(&builder, NPU_SET_DMA0_DST, 0, 40);
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  // A transfer reads bytes of an unfinished kernel.
  stream_change(&builder, NPU_SET_DMA0_SRC_REGION, 1, 0);
  stream_change(&builder, NPU_SET_DMA0_SRC, 0, 64 + 23);
  stream_change(&builder, NPU_SET_DMA0_LEN, 0, 1);
  expect_status(ETHOS_U_ERROR_HAZARD, NPU_OP_DMA_START, ETHOS_U_NO_FIELD);
  EXPECT_EQUAL(error.value, 64 + 23);
  stream_change(&builder, NPU_SET_DMA0_SRC, 0, 64 + 24);
  EXPECT_EQUAL(run(), ETHOS_U_OK);
  begin();
  stream_add_copy(&builder);
  stream_add(&builder, NPU_OP_KERNEL_WAIT, 0, 0);
  stream_add_transfer(&builder, 24, 16, 0);
  stream_add(&builder, NPU_OP_STOP, 0xFFFF, 0);
  EXPECT_EQUAL(run(), ETHOS_U_OK);
}

int main(void) {
  test_copy();
  test_inspection();
  test_streams();
  test_addresses();
  test_unknown_arithmetic();
  test_numbers_of_32_bits();
  test_a_narrower_clip_range();
  test_operations_without_a_scale();
  test_lut();
  test_transfers();
  test_hazards();
  return expect_report();
}
