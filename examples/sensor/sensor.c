// SPDX-License-Identifier: Apache-2.0
//
// Classifies windows of a sensor that a timer reads: samples come in from the timer's interrupt,
// through a ring, while the model runs.
#include <stdbool.h>
#include <stdint.h>

#include "boards/common/irq.h"
#include "boards/common/print.h"
#include "boards/common/timer.h"
#include "boards/irqs.h"
#include "examples/sensor/motion_plan.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/values.h"

enum { AXES = 3, WINDOW = 64 };  // the model's input
enum { RATE_HZ = 1000, RING = 128, WINDOWS = 10 };

static int8_t ring[RING][AXES];
static volatile uint32_t written;  // samples, by the handler; its place is the remainder
static volatile uint32_t taken;    // by main
static volatile uint32_t lost;

// A swing in each axis, of another period; yours asks a device.
static int8_t read_sensor(uint32_t time, uint32_t axis) {
  const uint32_t phase = time * (axis + 3) % 256;
  return (int8_t)(phase < 128 ? (int32_t)phase - 64 : 191 - (int32_t)phase);
}

void PL_TIMER_HANDLER(void) {
  pl_timer_acknowledge();
  if (written - taken == RING) {
    lost += 1;
    return;
  }
  for (uint32_t axis = 0; axis < AXES; ++axis) {
    ring[written % RING][axis] = read_sensor(written, axis);
  }
  written += 1;
}

static void wait_for_window(void) {
  const uint32_t locked = pl_irq_lock();
  while (written - taken < WINDOW) {
    pl_irq_wait();
    pl_irq_unlock(locked);  // now the handler runs
    (void)pl_irq_lock();
  }
  pl_irq_unlock(locked);
}

// Samples are rows of the ring, and of the model's input [1, WINDOW, AXES].
static void take_window(int8_t *input) {
  for (uint32_t i = 0; i < WINDOW; ++i) {
    for (uint32_t axis = 0; axis < AXES; ++axis) {
      input[i * AXES + axis] = ring[(taken + i) % RING][axis];
    }
  }
  taken += WINDOW;
}

static int fail(const char *what, uint32_t status) {
  pl_print("PL:FAIL ");
  pl_print(what);
  pl_print(" ");
  pl_print_u32(status);
  pl_print("\n");
  return 1;
}

int main(void) {
  pl_model model;
  pl_tensor input;
  pl_tensor output;
  pl_status status = pl_model_init(&model, &motion_plan);
  if (status == PL_OK) {
    status = pl_model_input(&model, 0, &input);
  }
  if (status == PL_OK) {
    status = pl_model_output(&model, 0, &output);
  }
  const bool is_of_rows = status == PL_OK && input.spec.layout == PL_LAYOUT_NLC;
  if (!is_of_rows || !pl_timer_start(RATE_HZ)) {
    return fail("model or timer", (uint32_t)status);
  }
  for (uint32_t window = 0; window < WINDOWS; ++window) {
    wait_for_window();
    take_window((int8_t *)input.data);
    status = pl_model_run(&model, &input, 1, &output, 1);
    uint32_t motion = 0;
    if (status == PL_OK) {
      status = pl_argmax(&output, &motion);
    }
    if (status != PL_OK) {
      return fail("inference", (uint32_t)status);
    }
    pl_print("motion ");
    pl_print_u32(motion);
    pl_print("\n");
  }
  pl_timer_stop();
  pl_print("PL:STAT samples ");
  pl_print_u32(written);
  pl_print("\nPL:STAT lost ");
  pl_print_u32(lost);
  pl_print("\n");
  if (lost != 0) {
    return fail("samples lost", lost);
  }
  pl_print("PL:PASS\n");
  return 0;
}
