// SPDX-License-Identifier: Apache-2.0
//
// A model with two delegates on the engine of firmware/neutron, with a stand-in of NXP's driver:
// equal to the reference bit for bit. Also with occasional driver failures, a damaged payload, and
// too little memory.
#include <string.h>

#include "boards/common/expect.h"
#include "boards/common/print.h"
#include "firmware/apps/vectors.h"
#include "firmware/neutron/engine.h"
#include "tests/neutron/stand_in_driver.h"

enum { DELEGATES = 2, TIMEOUT_SECONDS = 7, LARGEST_PAYLOAD = 16 * 1024 };

static neutron_context context;
static neutron_npu npu;
static _Alignas(NEUTRON_ALIGNMENT) uint8_t damaged[LARGEST_PAYLOAD];

static pl_engine open_engine(void) {
  *stand_in_driver_state() = (stand_in_driver){.context_bytes = 64};
  npu = (neutron_npu){
      .context = &context, .timeout_seconds = TIMEOUT_SECONDS, .fetches_weights = true};
  EXPECT(neutron_open(&npu) == PL_OK);
  return neutron_engine(&npu, "");
}

static pl_status run(pl_model *model, uint32_t vector) {
  const pl_plan *const plan = pl_image_vectors.plan;
  for (uint32_t i = 0; i < plan->input_count; ++i) {
    const uint8_t *const stored = pl_image_vectors.inputs[i];
    const uint32_t bytes = plan->inputs[i].spec.bytes;
    memcpy(plan->inputs[i].data, stored + (size_t)vector * bytes, bytes);
  }
  return pl_model_run(model, plan->inputs, plan->input_count, plan->outputs, plan->output_count);
}

static int is_equal(uint32_t vector) {
  const pl_plan *const plan = pl_image_vectors.plan;
  int equal = 1;
  for (uint32_t i = 0; i < plan->output_count; ++i) {
    const uint8_t *const stored = pl_image_vectors.outputs[i];
    const uint32_t bytes = plan->outputs[i].spec.bytes;
    equal &= memcmp(plan->outputs[i].data, stored + (size_t)vector * bytes, bytes) == 0;
  }
  return equal;
}

static const pl_delegate_data *delegate_of(uint32_t number) {
  const pl_plan *const plan = pl_image_vectors.plan;
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    if (plan->steps[i].run == pl_delegate_step && number-- == 0) {
      return plan->steps[i].data;
    }
  }
  return NULL;
}

static void test_all_vectors(void) {
  pl_engine engine = open_engine();
  pl_model model;
  EXPECT(pl_model_init_with_engines(&model, pl_image_vectors.plan, &engine, 1) == PL_OK);
  for (uint32_t i = 0; i < pl_image_vectors.count; ++i) {
    const pl_status status = run(&model, i);
    if (status != PL_OK) {
      pl_print(pl_delegate_status_name(status));
      pl_print(": ");
      pl_print(engine.text);
      pl_print("\n");
    }
    EXPECT(status == PL_OK);
    EXPECT(is_equal(i));
  }
  const stand_in_driver *const seen = stand_in_driver_state();
  EXPECT(pl_image_vectors.count > 0 && seen->runs == DELEGATES * pl_image_vectors.count);
  EXPECT(seen->prepared == 0);
  EXPECT(seen->timeout_seconds == TIMEOUT_SECONDS);
  EXPECT((seen->fetched > 0) == FETCHES);
}

static void test_a_driver_that_fails(void) {
  for (uint32_t number = 1; number <= DELEGATES; ++number) {
    pl_engine engine = open_engine();
    stand_in_driver_state()->fails_at = number;
    pl_model model;
    EXPECT(pl_model_init_with_engines(&model, pl_image_vectors.plan, &engine, 1) == PL_OK);
    EXPECT(run(&model, 0) == PL_ERROR_DELEGATE_RUN);
    EXPECT(engine.code == STAND_IN_FAILS);
    EXPECT(strcmp(engine.text, "the driver's own error") == 0);
    EXPECT(stand_in_driver_state()->prepared == 0);
    EXPECT(run(&model, 1) == PL_OK);
    EXPECT(is_equal(1));
    EXPECT(engine.code == 0 && engine.text[0] == '\0');
  }
}

static void test_a_driver_that_does_not_start(void) {
  EXPECT(neutron_open(NULL) == PL_ERROR_NULL);
  npu = (neutron_npu){.context = NULL};
  EXPECT(neutron_open(&npu) == PL_ERROR_NULL);
  npu.context = &context;
  *stand_in_driver_state() = (stand_in_driver){.context_bytes = NEUTRON_CONTEXT_BYTES + 1};
  EXPECT(neutron_open(&npu) == PL_ERROR_DELEGATE_RUN);
  EXPECT(npu.error == NEUTRON_ERROR_CONTEXT);
  *stand_in_driver_state() = (stand_in_driver){.init = STAND_IN_FAILS};
  EXPECT(neutron_open(&npu) == PL_ERROR_DELEGATE_RUN);
  EXPECT(npu.error == STAND_IN_FAILS);
}

// The first delegate with the given changes; its buffers are the plan's.
static pl_status run_delegate(pl_engine *engine, pl_delegate_data delegate, uint32_t scratch_size) {
  static _Alignas(NEUTRON_ALIGNMENT) uint8_t scratch[LARGEST_PAYLOAD];
  const pl_context of_run = {.scratch = scratch, .scratch_size = scratch_size};
  EXPECT(scratch_size <= sizeof scratch);
  engine->code = 0;
  return engine->run(engine, &of_run, &delegate);
}

static void test_damage_and_memory(void) {
  pl_engine engine = open_engine();
  const pl_delegate_data *const first = delegate_of(0);
  EXPECT(first != NULL && first->payload_bytes <= sizeof damaged);
  neutron_payload payload;
  EXPECT(neutron_payload_parse(first->payload, first->payload_bytes, &payload) == NEUTRON_OK);
  const uint32_t needed = payload.scratch_bytes + payload.fetched_bytes;
  EXPECT(payload.scratch_bytes == 1008 && (payload.fetched_bytes > 0) == FETCHES);
  EXPECT(run_delegate(&engine, *first, needed) == PL_OK);
  EXPECT(run_delegate(&engine, *first, needed - 16) == PL_ERROR_SCRATCH_SIZE);
  EXPECT(run_delegate(&engine, *first, 0) == PL_ERROR_SCRATCH_SIZE);
  EXPECT(engine.code == NEUTRON_ERROR_SCRATCH);
  EXPECT(strcmp(engine.text, "NEUTRON_ERROR_SCRATCH") == 0);

  // Each byte of the header and of the words read, with each of a few other values.
  const uint32_t read = (uint32_t)(payload.microcode - (const uint8_t *)first->payload) + 60;
  pl_delegate_data other = *first;
  other.payload = damaged;
  for (uint32_t at = 0; at < read; ++at) {
    for (uint32_t value = 0; value < 3; ++value) {
      memcpy(damaged, first->payload, first->payload_bytes);
      damaged[at] = (uint8_t)(damaged[at] + (value == 0 ? 1 : value == 1 ? 128 : 255));
      const pl_status status = run_delegate(&engine, other, needed);
      EXPECT(status == PL_OK || status == PL_ERROR_DELEGATE_PAYLOAD ||
             status == PL_ERROR_SCRATCH_SIZE || status == PL_ERROR_DELEGATE_RUN);
    }
  }
  memcpy(damaged, first->payload, first->payload_bytes);
  damaged[0] = 0;
  EXPECT(run_delegate(&engine, other, needed) == PL_ERROR_DELEGATE_PAYLOAD);
  EXPECT(engine.code == NEUTRON_ERROR_PAYLOAD);
  memcpy(damaged, first->payload, first->payload_bytes);
  damaged[3] = 1;  // channels_last
  EXPECT(run_delegate(&engine, other, needed) == PL_ERROR_DELEGATE_PAYLOAD);
  EXPECT(engine.code == NEUTRON_ERROR_LAYOUT);
  memcpy(damaged, first->payload, first->payload_bytes);
  other.payload = damaged + 4;
  EXPECT(run_delegate(&engine, other, needed) == PL_ERROR_DELEGATE_RUN);
  EXPECT(engine.code == NEUTRON_ERROR_ALIGNMENT);
  other.payload = damaged;
  --other.input_count;
  EXPECT(run_delegate(&engine, other, needed) == PL_ERROR_DELEGATE_PAYLOAD);
  EXPECT(engine.code == NEUTRON_ERROR_TENSORS);
  for (uint32_t size = 0; size < read; ++size) {
    other = *first;
    other.payload_bytes = size;
    EXPECT(run_delegate(&engine, other, needed) == PL_ERROR_DELEGATE_PAYLOAD);
  }
}

int main(void) {
  test_all_vectors();
  test_a_driver_that_fails();
  test_a_driver_that_does_not_start();
  test_damage_and_memory();
  return expect_report();
}
