// SPDX-License-Identifier: Apache-2.0
//
// Classifies an image of 8 x 8 pixels; yours comes from a camera.
#include <stdint.h>

#include "boards/common/print.h"
#include "examples/image/digits_plan.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/values.h"

enum { PIXELS = DIGITS_PLAN_INPUT_0_HEIGHT * DIGITS_PLAN_INPUT_0_WIDTH };

// A written zero, of 0 to 9 for each pixel.
static const char picture[] =
    "00375100"
    "00786830"
    "02810640"
    "02700440"
    "03400540"
    "02600740"
    "01836700"
    "00376000";
_Static_assert(sizeof(picture) == PIXELS + 1, "the picture is not of the input's size");

// Pixels as in training: 0 is white, 1 is black.
static void take_picture(float *pixels) {
  for (uint32_t i = 0; i < PIXELS; ++i) {
    pixels[i] = (float)(picture[i] - '0') / 9.0f;
  }
}

static pl_status classify(pl_model *model, const float *pixels, uint32_t *digit) {
  pl_tensor input;
  pl_tensor output;
  pl_status status = pl_model_input(model, 0, &input);
  if (status == PL_OK) status = pl_model_output(model, 0, &output);
  if (status == PL_OK) status = pl_quantize(&input, pixels);
  if (status == PL_OK) status = pl_model_run(model, &input, 1, &output, 1);
  return status == PL_OK ? pl_argmax(&output, digit) : status;
}

int main(void) {
  pl_model model;
  float pixels[PIXELS];
  uint32_t digit = 0;
  take_picture(pixels);
  pl_status status = pl_model_init(&model, &digits_plan);
  if (status == PL_OK) status = classify(&model, pixels, &digit);
  if (status != PL_OK || digit != 0) {
    pl_print(status == PL_OK ? "PL:FAIL not taken for a zero\n"
                             : "PL:FAIL the model did not run\n");
    return 1;
  }
  pl_print("digit ");
  pl_print_u32(digit);
  pl_print("\nPL:PASS\n");
  return 0;
}
