// SPDX-License-Identifier: Apache-2.0
//
// Every header for programs, in C++: the board's NPU in one call, and step by step.
#include <stdint.h>

#include "boards/common/expect.h"
#include "firmware/ethos_u/driver/driver.h"
#include "firmware/ethos_u/driver/this_board.h"
#include "firmware/ethos_u/engine.h"
#include "firmware/ethos_u/this_npu.h"
#include "npu/ethos_u/device.h"
#include "npu/ethos_u/model/model_device.h"
#include "npu/ethos_u/payload.h"
#include "npu/ethos_u/status.h"

namespace {

ethos_u_this_npu npu;
alignas(16) uint8_t workspace[ETHOS_U_MODEL_STATE_BYTES];

}  // namespace

int main() {
  pl_engine engine;
  EXPECT_EQUAL(ethos_u_open_this_npu(&npu, &engine), ETHOS_U_OK);

  ethos_u_model_device model;
  ethos_u_model_device_init(&model, workspace, sizeof(workspace), nullptr);
  const ethos_u_board board = ethos_u_this_board(&model.device);
  ethos_u_driver driver;
  ethos_u_device *device = nullptr;
  EXPECT_EQUAL(ethos_u_open(&driver, &board, &device), ETHOS_U_OK);
  EXPECT(device == &model.device || device == &driver.device);

  ethos_u_payload payload;
  EXPECT_EQUAL(ethos_u_payload_parse(workspace, 16, &payload), ETHOS_U_ERROR_PAYLOAD);
  return expect_report();
}
