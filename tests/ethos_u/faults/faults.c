// SPDX-License-Identifier: Apache-2.0
//
// A model on the driver and the board's vector table, with the fake NPU as its registers. The fake
// raises the board's interrupt, and fails in every way. Each fault has a status and a line, and the
// next inference is right.
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "boards/common/print.h"
#include "boards/common/timer.h"
#include "boards/irqs.h"
#include "firmware/apps/vectors.h"
#include "firmware/ethos_u/driver/fake_npu.h"
#include "firmware/ethos_u/this_npu.h"
#include "firmware/runtime/delegate.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/split.h"
#include "npu/ethos_u/payload.h"

enum {
  TIME_HZ = 4000,
  RUN_TICKS = 50000,  // microseconds
  ALL_MEMORY = 0x7fffffff,
  MOST_PAYLOAD = 128 * 1024,
  WORKSPACE = 4 << 20,
};

static ethos_u_this_npu npu;
static pl_engine board_engine;
static pl_engine engine;  // the board's, with faults in its arguments
static pl_model model;
static uint8_t workspace[WORKSPACE] __attribute__((section(".bss.pl_arena.ddr"), aligned(16)));
static uint8_t payload[MOST_PAYLOAD] __attribute__((section(".bss.pl_arena.ddr"), aligned(16)));

// A copy of the engine's arguments, for changes.
typedef struct {
  uint32_t *words;  // words of the payload
  uint32_t count;
  pl_context *context;
} handed;

static void (*damage)(const handed *given);

static pl_status run_damaged(pl_engine *given, const pl_context *context,
                             const pl_delegate_data *delegate) {
  pl_context changed = *context;
  pl_delegate_data copy = *delegate;
  EXPECT(delegate->payload_bytes <= MOST_PAYLOAD);
  memcpy(payload, delegate->payload, delegate->payload_bytes);
  if (damage != NULL) {
    const handed all = {(uint32_t *)(void *)payload, delegate->payload_bytes / 4, &changed};
    damage(&all);
  }
  copy.payload = payload;
  return board_engine.run(given, &changed, &copy);
}

// The fake's time, with a stop, and its interrupt's line.
static volatile bool stands_still;

void PL_TIMER_HANDLER(void) {
  pl_timer_acknowledge();
  if (!stands_still) {
    fake_npu_advance();
  }
}
static void raise(void) { pl_irq_set_pending(PL_IRQ_ETHOS_U); }

// A stream of the model, for the NPU that its delegates are for.
static ethos_u_stream stream_of_the_model(void) {
  const pl_plan *const plan = pl_image_vectors.plan;
  ethos_u_payload first = {0};
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    if (plan->steps[i].run == pl_delegate_step) {
      const pl_delegate_data *const data = plan->steps[i].data;
      EXPECT_EQUAL(ethos_u_payload_parse(data->payload, data->payload_bytes, &first), ETHOS_U_OK);
      break;
    }
  }
  return first.stream;
}

static void begin(void) {
  fake_npu_power_on();
  const ethos_u_stream stream = stream_of_the_model();
  fake.id = stream.id;
  fake.config = stream.config;
  fake.model_config = stream.config;
  fake.interrupts = true;
  fake.raise = raise;
  fake.bus_base = 0;
  fake.reached = NULL;
  fake.reached_bytes = ALL_MEMORY;
  fake.workspace = workspace;
  fake.workspace_bytes = sizeof workspace;
}

// Initializes the model on the NPU that answers, or on its stand-in.
static void open_npu(void) {
  EXPECT_EQUAL(ethos_u_open_this_npu(&npu, &board_engine), ETHOS_U_OK);
  npu.board.run_ticks = RUN_TICKS;
  engine = board_engine;
  engine.run = run_damaged;
  EXPECT_EQUAL(pl_model_init_with_engines(&model, pl_image_vectors.plan, &engine, 1), PL_OK);
}

static void write_input(uint32_t vector) {
  const pl_plan *const plan = pl_image_vectors.plan;
  const uint32_t bytes = plan->inputs[0].spec.bytes;
  memcpy(plan->inputs[0].data, (const uint8_t *)pl_image_vectors.inputs[0] + (size_t)vector * bytes,
         bytes);
  memset(plan->outputs[0].data, 0, plan->outputs[0].spec.bytes);
}

static pl_status run(uint32_t vector) {
  const pl_plan *const plan = pl_image_vectors.plan;
  write_input(vector);
  return pl_model_run(&model, plan->inputs, 1, plan->outputs, 1);
}

static void expect_output(uint32_t vector, int line) {
  const pl_tensor *const output = &pl_image_vectors.plan->outputs[0];
  const uint32_t bytes = output->spec.bytes;
  const uint8_t *const expected = (const uint8_t *)pl_image_vectors.outputs[0] + vector * bytes;
  expect(memcmp(output->data, expected, bytes) == 0, "output", line);
}

static void expect_right(int line) {
  for (uint32_t i = 0; i < 2; ++i) {
    expect_equal(run(i), PL_OK, "status", line);
    expect_output(i, line);
  }
  expect(fake.violations == 0, fake.violation == NULL ? "protocol" : fake.violation, line);
}

static void expect_fault(pl_status status, ethos_u_status code, int line) {
  expect_equal(run(0), status, "status", line);
  expect_equal(engine.code, code, "code", line);
  expect(strcmp(engine.text, ethos_u_status_name(code)) == 0, "text", line);
  pl_print("NPU: ");
  pl_print(engine.text);
  pl_print("\n");
}

static void test_interrupts(void) {
  begin();
  open_npu();
  EXPECT(npu.npu.device == &npu.driver.device);
  // The fake's clock is an interrupt, too, and wakes the core.
  EXPECT(pl_timer_start(TIME_HZ));
  expect_right(__LINE__);
  EXPECT_EQUAL(fake.interrupts_raised, 2);
  EXPECT(npu.driver.interrupted);
  // Once more without a pending event of the NPU.
  pl_irq_set_pending(PL_IRQ_ETHOS_U);
  expect_right(__LINE__);
  pl_timer_stop();
}

// The core sleeps through everything except its own timer. It reads from registers the state that
// no interrupt reports.
static void test_without_interrupts(void) {
  begin();
  fake.interrupts = false;
  fake.raise = NULL;
  open_npu();
  expect_right(__LINE__);
  EXPECT(pl_timer_rate() == 0);
}

static void test_faults_of_the_npu(void) {
  static const struct {
    fake_behaviour behaviour;
    ethos_u_status code;
  } faults[] = {
      {FAKE_HANG, ETHOS_U_ERROR_TIMEOUT},
      {FAKE_BUS_ERROR, ETHOS_U_ERROR_BUS},
      {FAKE_WATCHDOG, ETHOS_U_ERROR_WATCHDOG},
      {FAKE_ECC, ETHOS_U_ERROR_ECC},
      {FAKE_RESET_WHILE_RUNNING, ETHOS_U_ERROR_RESET},
      {FAKE_STUCK_RESET, ETHOS_U_ERROR_RESET},
  };
  begin();
  open_npu();
  for (uint32_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
    EXPECT(pl_timer_start(TIME_HZ));
    fake.behaviour = faults[i].behaviour;
    expect_fault(PL_ERROR_DELEGATE_RUN, faults[i].code, __LINE__);
    fake.behaviour = FAKE_WORKS;
    expect_right(__LINE__);
    pl_timer_stop();
  }
  // A hang is noticed as well where nobody but the driver uses the timer.
  fake.behaviour = FAKE_HANG;
  expect_fault(PL_ERROR_DELEGATE_RUN, ETHOS_U_ERROR_TIMEOUT, __LINE__);
  EXPECT(pl_timer_rate() == 0);
}

// The command words in a payload, after the mark of their container.
static uint32_t *commands(const handed *given) {
  const uint32_t mark = 0x31504F43;  // "COP1"
  for (uint32_t i = 0; i < given->count; ++i) {
    if (given->words[i] == mark) {
      return &given->words[i];
    }
  }
  EXPECT(false);
  return given->words;
}

static void damage_command(const handed *given) {
  commands(given)[8] = 0x03ff;  // no NPU has it
}
static void damage_container(const handed *given) { given->words[0] = 0; }
static void damage_configuration(const handed *given) {
  commands(given)[2] ^= 2;  // its MACs: no such NPU
}
static void damage_scratch(const handed *given) { given->context->scratch_size -= 16; }

static void test_bad_payloads(bool on_npu) {
  static const struct {
    void (*damage)(const handed *given);
    pl_status status;
    ethos_u_status code;
    ethos_u_status on_model;
  } faults[] = {
      {damage_command, PL_ERROR_DELEGATE_RUN, ETHOS_U_ERROR_PARSE, ETHOS_U_ERROR_COMMAND},
      {damage_container, PL_ERROR_DELEGATE_PAYLOAD, ETHOS_U_ERROR_PAYLOAD, ETHOS_U_ERROR_PAYLOAD},
      {damage_configuration, PL_ERROR_DELEGATE_PAYLOAD, ETHOS_U_ERROR_CONFIG, ETHOS_U_ERROR_CONFIG},
      {damage_scratch, PL_ERROR_SCRATCH_SIZE, ETHOS_U_ERROR_SCRATCH_SIZE,
       ETHOS_U_ERROR_SCRATCH_SIZE},
  };
  begin();
  fake.interrupts = false;
  fake.raise = NULL;
  fake.behaviour = on_npu ? FAKE_WORKS : FAKE_EMPTY_BUS;
  open_npu();
  EXPECT((npu.npu.device == &npu.driver.device) == on_npu);
  for (uint32_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
    damage = faults[i].damage;
    expect_fault(faults[i].status, on_npu ? faults[i].code : faults[i].on_model, __LINE__);
    damage = NULL;
    expect_right(__LINE__);
  }
}

// A run started by another user is not disturbed.
static void test_a_second_user(void) {
  begin();
  open_npu();
  EXPECT(pl_timer_start(TIME_HZ));
  npu.npu.device->busy = 1;
  expect_fault(PL_ERROR_BUSY, ETHOS_U_ERROR_BUSY, __LINE__);
  EXPECT_EQUAL(fake.runs, 0);
  npu.npu.device->busy = 0;
  expect_right(__LINE__);
  pl_timer_stop();
}

// Starts one run, and polls it to its end; gives how often it had not ended. It does not end before
// the first look, however long a busy machine takes until then.
static uint32_t poll_to_the_end(uint32_t vector, pl_status expected, int line) {
  static pl_run split;
  const pl_plan *const plan = pl_image_vectors.plan;
  uint32_t polls = 0;
  bool ended = false;
  write_input(vector);
  stands_still = true;
  pl_status status = pl_model_start(&split, &model, plan->inputs, 1, plan->outputs, 1);
  expect_equal(status, PL_OK, "start", line);
  while (status == PL_OK && !ended) {
    // The model is in use, and so is the NPU.
    expect_equal(pl_model_run(&model, plan->inputs, 1, plan->outputs, 1), PL_ERROR_BUSY, "run",
                 line);
    status = pl_model_poll(&split, &ended);
    polls += ended ? 0 : 1;
    stands_still = false;
  }
  expect(ended, "ended", line);
  expect_equal(status, expected, "status", line);
  expect_equal(pl_model_wait(&split), expected, "wait", line);
  return polls;
}

// The core does other work during the NPU's run. The interrupt reports the end.
static void test_in_parts(void) {
  static pl_run split;
  const pl_plan *const plan = pl_image_vectors.plan;
  begin();
  EXPECT_EQUAL(ethos_u_open_this_npu(&npu, &board_engine), ETHOS_U_OK);
  EXPECT_EQUAL(pl_model_init_with_engines(&model, plan, &board_engine, 1), PL_OK);
  EXPECT(pl_timer_start(TIME_HZ));
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT(poll_to_the_end(i, PL_OK, __LINE__) > 0);
    expect_output(i, __LINE__);
    EXPECT_EQUAL(fake.interrupts_raised, i + 1);
  }
  // Or it has nothing else to do any more, and sleeps.
  write_input(0);
  EXPECT_EQUAL(pl_model_start(&split, &model, plan->inputs, 1, plan->outputs, 1), PL_OK);
  EXPECT_EQUAL(pl_model_wait(&split), PL_OK);
  expect_output(0, __LINE__);
  // A hang ends, with a wait or with polling.
  npu.board.run_ticks = RUN_TICKS;
  fake.behaviour = FAKE_HANG;
  EXPECT_EQUAL(poll_to_the_end(1, PL_ERROR_DELEGATE_RUN, __LINE__), RUN_TICKS - 1);
  EXPECT_EQUAL(board_engine.code, ETHOS_U_ERROR_TIMEOUT);
  EXPECT_EQUAL(pl_model_start(&split, &model, plan->inputs, 1, plan->outputs, 1), PL_OK);
  EXPECT_EQUAL(pl_model_wait(&split), PL_ERROR_DELEGATE_RUN);
  EXPECT_EQUAL(board_engine.code, ETHOS_U_ERROR_TIMEOUT);
  fake.behaviour = FAKE_WORKS;
  expect_right(__LINE__);
  pl_timer_stop();
}

// Same for the NPU's stand-in.
static void test_in_parts_on_the_model(void) {
  begin();
  fake.behaviour = FAKE_EMPTY_BUS;
  EXPECT_EQUAL(ethos_u_open_this_npu(&npu, &board_engine), ETHOS_U_OK);
  EXPECT_EQUAL(pl_model_init_with_engines(&model, pl_image_vectors.plan, &board_engine, 1), PL_OK);
  EXPECT_EQUAL(poll_to_the_end(1, PL_OK, __LINE__), 0);
  expect_output(1, __LINE__);
}

int main(void) {
  test_interrupts();
  test_without_interrupts();
  test_faults_of_the_npu();
  test_bad_payloads(true);
  test_bad_payloads(false);
  test_a_second_user();
  test_in_parts();
  test_in_parts_on_the_model();
  return expect_report();
}
