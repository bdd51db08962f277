// SPDX-License-Identifier: Apache-2.0
//
// Firmware in another package than the image of its model.
#include "boards/common/print.h"
#include "firmware/runtime/model.h"
#include "tests/names/my_app_v2_plan.h"

int main(void) {
  pl_model model;
  pl_tensor input;
  pl_tensor output;
  pl_status status = pl_model_init(&model, &my_app_v2_plan);
  if (status == PL_OK) {
    status = pl_model_input(&model, 0, &input);
  }
  if (status == PL_OK) {
    status = pl_model_output(&model, 0, &output);
  }
  if (status == PL_OK) {
    status = pl_model_run(&model, &input, 1, &output, 1);
  }
  pl_print(status == PL_OK ? "PL:PASS\n" : "PL:FAIL the model does not run\n");
  return status == PL_OK ? 0 : 1;
}
