// SPDX-License-Identifier: Apache-2.0
//
// Firmware with its own start-up code and linker script, and a model.
#include "boards/digits.h"
#include "firmware/runtime/model.h"

int main(void) {
  pl_model model;
  pl_tensor input;
  pl_tensor output;
  pl_status status = pl_model_init(&model, &digits);
  if (status == PL_OK) {
    status = pl_model_input(&model, 0, &input);
  }
  if (status == PL_OK) {
    status = pl_model_output(&model, 0, &output);
  }
  if (status == PL_OK) {
    status = pl_model_run(&model, &input, 1, &output, 1);
  }
  return (int)status;
}
