// SPDX-License-Identifier: Apache-2.0
//
// Classifies windows of a sensor read by a timer. Samples arrive from the timer's interrupt through
// a ring buffer while the model runs.
#include <stdint.h>

#include "boards/common/print.h"
#include "boards/common/ring.h"
#include "boards/common/timer.h"
#include "boards/irqs.h"
#include "examples/sensor/motion_plan.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/values.h"

enum { AXES = 3, WINDOW = MOTION_PLAN_INPUT_0_LENGTH, RATE_HZ = 1000, WINDOWS = 10 };
_Static_assert(MOTION_PLAN_INPUT_0_IS_SHAPE(1, WINDOW, AXES), "not all axes of a time together");
static MOTION_PLAN_INPUT_0_TYPE buffer[2 * WINDOW][AXES];
static pl_ring ring = PL_RING(buffer);

// A swing in each axis, of another period; yours asks a device.
static int8_t read_sensor(uint32_t time, uint32_t axis) {
  const uint32_t phase = time * (axis + 3) % 256;
  return (int8_t)(phase < 128 ? (int32_t)phase - 64 : 191 - (int32_t)phase);
}

void PL_TIMER_HANDLER(void) {
  static uint32_t time;
  int8_t sample[AXES];
  pl_timer_acknowledge();
  for (uint32_t axis = 0; axis < AXES; ++axis) sample[axis] = read_sensor(time, axis);
  time += 1;
  (void)pl_ring_put(&ring, sample);
}

static void print_line(const char *text, uint32_t number) {
  pl_print(text);
  pl_print_u32(number);
  pl_print("\n");
}

int main(void) {
  pl_model model;
  pl_tensor input, output;
  uint32_t motion = 0;
  bool good = pl_model_init(&model, &motion_plan) == PL_OK &&
              pl_model_input(&model, 0, &input) == PL_OK &&
              pl_model_output(&model, 0, &output) == PL_OK && pl_timer_start(RATE_HZ);
  for (uint32_t window = 0; good && window < WINDOWS; ++window) {
    pl_ring_take(&ring, input.data, WINDOW);
    good = pl_model_run(&model, &input, 1, &output, 1) == PL_OK &&
           pl_argmax(&output, &motion) == PL_OK;
    print_line("motion ", motion);
  }
  pl_timer_stop();
  print_line("PL:STAT samples ", ring.put);
  print_line("PL:STAT lost ", ring.lost);
  good = good && ring.lost == 0 && ring.put >= WINDOW * WINDOWS;
  pl_print(good ? "PL:PASS\n" : "PL:FAIL a window was not classified, or a sample is lost\n");
  return good ? 0 : 1;
}
