// SPDX-License-Identifier: Apache-2.0
// A device as an engine for the delegates of plans (firmware/runtime/delegate.h):
//
//   static ethos_u_npu npu;
//   ... ethos_u_open(&driver, &board, &npu.device) ...
//   pl_engine engines[] = {ethos_u_engine(&npu, "ethos-u55-128")};
//
// After a run, `code` is the ethos_u_status and `text` its name. Statuses for a plan:
//   PL_ERROR_DELEGATE_PAYLOAD  a damaged payload, one for another NPU, other
//                              tensors than the delegate's, or more than
//                              ETHOS_U_ENGINE_TENSORS on a side
//   PL_ERROR_SCRATCH_SIZE      less scratch than the payload requires
//   PL_ERROR_BUSY              a run of another model, or the app's own, has not ended
//   PL_ERROR_DELEGATE_RUN      the device
#ifndef FIRMWARE_ETHOS_U_ENGINE_H_
#define FIRMWARE_ETHOS_U_ENGINE_H_

#include <stdint.h>

#include "firmware/runtime/delegate.h"
#include "npu/ethos_u/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ETHOS_U_ENGINE_TENSORS = 8 };

// Owned by the app; it must stay where it is as long as models run.
typedef struct {
  ethos_u_device *device;
  uint8_t *fast;       // see ethos_u_scratch: null and 0 unless payloads have a fast scratch
  uint32_t fast_size;  // bytes
} ethos_u_npu;

// `configuration` is the NPU's, as in its board's data.
pl_engine ethos_u_engine(ethos_u_npu *npu, const char *configuration);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_ENGINE_H_
