// SPDX-License-Identifier: Apache-2.0
// The functional model as a device, for boards without an NPU.
#ifndef FIRMWARE_ETHOS_U_MODEL_MODEL_DEVICE_H_
#define FIRMWARE_ETHOS_U_MODEL_MODEL_DEVICE_H_

#include "npu/ethos_u/device.h"
#include "npu/ethos_u/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  ethos_u_device device;  // first: a pointer to it is one to the whole
  uint8_t *workspace;     // aligned to 16 bytes
  uint64_t workspace_bytes;
  ethos_u_model_options options;
  ethos_u_model_summary summary;  // summary of the last run
  ethos_u_error error;            // summary of the last run
} ethos_u_model_device;

// Makes a device from a workspace with the bytes reported by ethos_u_model_inspect for later
// payloads. A payload with larger needs gets ETHOS_U_ERROR_WORKSPACE. `options` may be null.
void ethos_u_model_device_init(ethos_u_model_device *model, uint8_t *workspace,
                               uint64_t workspace_bytes, const ethos_u_model_options *options);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_MODEL_MODEL_DEVICE_H_
