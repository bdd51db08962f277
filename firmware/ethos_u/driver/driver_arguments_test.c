// SPDX-License-Identifier: Apache-2.0
// Accepted and refused arguments of the driver before the NPU runs: streams, scratch, tensors.
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/ethos_u/driver/driver_fixture.h"

// Combinations of a stream's target and the NPU's identification.
static void test_streams_for_others(void) {
  enum { CONFIG = 0x00001807, ID = 0x10066001, CUSTOM_DMA = 1 << 27, SAFETY = 1 << 26 };
  static const struct {
    uint32_t stream_config;
    uint32_t stream_id;
    uint32_t npu_config;
    uint32_t npu_id;
    ethos_u_status status;
  } cases[] = {
      {CONFIG, ID, CONFIG, ID, ETHOS_U_OK},
      {0x00001808, ID, CONFIG, ID, ETHOS_U_ERROR_CONFIG},  // MACs
      {CONFIG, ID, 0x00001806, ID, ETHOS_U_ERROR_CONFIG},
      {0x10001808, ID, 0x00001808, ID, ETHOS_U_ERROR_CONFIG},  // product
      {0x20001807, ID, CONFIG, ID, ETHOS_U_ERROR_CONFIG},
      {0x00001817, ID, CONFIG, ID, ETHOS_U_ERROR_CONFIG},  // version of the stream
      {CONFIG, ID, 0x00001817, ID, ETHOS_U_ERROR_CONFIG},
      {0x00001817, ID, 0x00001817, ID, ETHOS_U_OK},
      {0x00003007, ID, CONFIG, ID, ETHOS_U_OK},  // SHRAM
      {CONFIG, ID, 0x00003007, ID, ETHOS_U_OK},
      {CONFIG, ID, CONFIG | CUSTOM_DMA, ID, ETHOS_U_OK},
      {CONFIG | CUSTOM_DMA, ID, CONFIG | CUSTOM_DMA, ID, ETHOS_U_OK},
      {CONFIG | CUSTOM_DMA, ID, CONFIG, ID, ETHOS_U_ERROR_CONFIG},
      {CONFIG, ID, CONFIG | SAFETY, ID, ETHOS_U_OK},
      {CONFIG, 0x20066001, CONFIG, ID, ETHOS_U_ERROR_CONFIG},  // architecture 2.0.6
      {CONFIG, 0x00066001, CONFIG, ID, ETHOS_U_ERROR_CONFIG},
      {CONFIG, 0x10166001, CONFIG, ID, ETHOS_U_ERROR_CONFIG},  // 1.1.6
      {CONFIG, 0x1FF66001, CONFIG, ID, ETHOS_U_ERROR_CONFIG},
      {CONFIG, ID, CONFIG, 0x10106001, ETHOS_U_OK},
      {CONFIG, 0x10076001, CONFIG, ID, ETHOS_U_OK},  // 1.0.7: the patch does not count
      {CONFIG, ID, CONFIG, 0x10046001, ETHOS_U_OK},
      {CONFIG, 0x1006FFFF, CONFIG, ID, ETHOS_U_OK},  // nor does the product's revision
  };
  for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    begin();
    fake.config = cases[i].npu_config;
    fake.id = cases[i].npu_id;
    open_device();
    ethos_u_payload payload = copy_payload();
    payload.stream.config = cases[i].stream_config;
    payload.stream.id = cases[i].stream_id;
    expect_equal(run_payload(&payload, 1), cases[i].status, "status of a stream, by index", (int)i);
    EXPECT_EQUAL(fake.runs, cases[i].status == ETHOS_U_OK ? 1 : 0);
    expect_no_violation(__LINE__);
  }
  begin();
  open_device();
  expect_recovery(__LINE__);
}

static void test_arguments(void) {
  begin();
  open_device();
  const ethos_u_payload payload = copy_payload();
  const void *inputs[] = {NULL};
  void *outputs[] = {NULL};
  ethos_u_scratch scratch = {fake.memory + SCRATCH, SCRATCH_SIZE - 1, NULL, 0};
  EXPECT_EQUAL(ethos_u_run(device, &payload, &scratch, inputs, outputs),
               ETHOS_U_ERROR_SCRATCH_SIZE);
  scratch.size = SCRATCH_SIZE;
  scratch.data += 8;
  EXPECT_EQUAL(ethos_u_run(device, &payload, &scratch, inputs, outputs), ETHOS_U_ERROR_ALIGNMENT);
  scratch.data = NULL;
  EXPECT_EQUAL(ethos_u_run(device, &payload, &scratch, inputs, outputs), ETHOS_U_ERROR_NULL);
  // Tensors in place: nothing is copied.
  scratch.data = fake.memory + SCRATCH;
  ethos_u_tensor input;
  ethos_u_tensor output;
  EXPECT_EQUAL(ethos_u_payload_input(&payload, 0, &input), ETHOS_U_OK);
  EXPECT_EQUAL(ethos_u_payload_output(&payload, 0, &output), ETHOS_U_OK);
  memset(ethos_u_scratch_tensor(&scratch, &input), 42, input.bytes);
  EXPECT_EQUAL(ethos_u_run(device, &payload, &scratch, inputs, outputs), ETHOS_U_OK);
  EXPECT_EQUAL(ethos_u_scratch_tensor(&scratch, &output)[23], 42);
  expect_no_violation(__LINE__);
}

static void invalidate_anything(const void *data, uint32_t size) {
  (void)data;
  invalidated += size;
}

// Bytes next to the scratch, written by the core and still only in the cache. Invalidating a line
// shared by both would lose them.
static void test_cache_lines(void) {
  static const struct {
    uint32_t line;
    uint32_t offset;
    uint32_t size;
    uint32_t fast_offset;
    uint32_t fast_size;
    ethos_u_status status;
  } cases[] = {
      {0, 0, 96, 0, 0, ETHOS_U_OK},
      {0, 16, 96, 0, 0, ETHOS_U_ERROR_ALIGNMENT},
      {0, 0, 112, 0, 0, ETHOS_U_ERROR_ALIGNMENT},
      {32, 32, 128, 0, 0, ETHOS_U_OK},
      {64, 0, 128, 0, 0, ETHOS_U_OK},
      {64, 0, 96, 0, 0, ETHOS_U_ERROR_ALIGNMENT},
      {64, 32, 128, 0, 0, ETHOS_U_ERROR_ALIGNMENT},
      {16, 16, 112, 0, 0, ETHOS_U_OK},
      {0, 0, 96, 256, 32, ETHOS_U_OK},
      {0, 0, 96, 272, 32, ETHOS_U_ERROR_ALIGNMENT},
      {0, 0, 96, 256, 40, ETHOS_U_ERROR_ALIGNMENT},
  };
  const void *inputs[] = {NULL};
  void *outputs[] = {NULL};
  for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    begin();
    board.cache_line = cases[i].line;
    board.cache_invalidate = invalidate_anything;
    open_device();
    const ethos_u_payload payload = copy_payload();
    uint8_t *data = fake.memory + SCRATCH;
    const ethos_u_scratch scratch = {data + cases[i].offset, cases[i].size,
                                     cases[i].fast_size == 0 ? NULL : data + cases[i].fast_offset,
                                     cases[i].fast_size};
    expect_equal(ethos_u_run(device, &payload, &scratch, inputs, outputs), cases[i].status,
                 "status of a scratch, by index", (int)i);
    EXPECT_EQUAL(invalidated,
                 cases[i].status == ETHOS_U_OK ? cases[i].size + cases[i].fast_size : 0);
    // Without a cache 16 bytes are enough.
    board.cache_clean = NULL;
    board.cache_invalidate = NULL;
    EXPECT_EQUAL(ethos_u_run(device, &payload, &scratch, inputs, outputs), ETHOS_U_OK);
    expect_no_violation(__LINE__);
  }
}

int main(void) {
  test_streams_for_others();
  test_arguments();
  test_cache_lines();
  return expect_report();
}
