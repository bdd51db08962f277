// SPDX-License-Identifier: Apache-2.0
//
// An eIQ Neutron NPU with NXP's driver, as an engine for the delegates of plans
// (firmware/runtime/delegate.h):
//
//   static neutron_context context;
//   static neutron_npu npu = {
//       .context = &context, .timeout_seconds = 10, .fetches_weights = true};
//   if (neutron_open(&npu) != PL_OK) { ... npu.error ... }
//   pl_engine engines[] = {neutron_engine(&npu, "imxrt700")};
//
// A delegate's payload is prepared before each run and released after it, so several models may
// share the NPU. After a run `code` is the driver's NeutronError, or a neutron_status; the latter
// are less than 0. `text` is the status's name. Statuses for a plan:
//   PL_ERROR_DELEGATE_PAYLOAD  a damaged payload, or other tensors than the
//                              delegate's
//   PL_ERROR_SCRATCH_SIZE      less scratch memory than the payload asks for
//   PL_ERROR_DELEGATE_RUN      the driver, or unaligned memory
#ifndef FIRMWARE_NEUTRON_ENGINE_H_
#define FIRMWARE_NEUTRON_ENGINE_H_

#include <stdbool.h>
#include <stdint.h>

#include "NeutronDriver.h"
#include "firmware/runtime/delegate.h"
#include "npu/neutron/payload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  NEUTRON_ENGINE_TENSORS = 16,   // on a side
  NEUTRON_CONTEXT_BYTES = 1024,  // more than the driver needs; neutron_open checks this
};

// The driver's memory for a prepared program: images have no heap.
typedef struct {
  uint8_t bytes[NEUTRON_CONTEXT_BYTES] __attribute__((aligned(NEUTRON_ALIGNMENT)));
} neutron_context;

// Owned by the app; it must stay where it is as long as models run.
typedef struct {
  neutron_context *context;
  uint32_t timeout_seconds;  // timeout of a run; the driver then returns its error
  bool fetches_weights;      // the NPU does not reach the flash memory: the core copies weights
  int32_t error;             // of neutron_open: the driver's number, or a neutron_status
  NeutronConfig config;      // private
} neutron_npu;

// Starts the driver. PL_ERROR_NULL; PL_ERROR_DELEGATE_RUN if that fails, or needs a larger context.
PL_MUST_USE pl_status neutron_open(neutron_npu *npu);

// `configuration` is the part's, as in its board's data, such as "imxrt700".
pl_engine neutron_engine(neutron_npu *npu, const char *configuration);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_NEUTRON_ENGINE_H_
