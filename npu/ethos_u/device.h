// SPDX-License-Identifier: Apache-2.0
// Device that executes payloads: the NPU through its driver (driver/driver.h) or the functional
// model (model/model_device.h). A program is the same for both.
#ifndef FIRMWARE_ETHOS_U_DEVICE_H_
#define FIRMWARE_ETHOS_U_DEVICE_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu/ethos_u/payload.h"
#include "npu/ethos_u/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Memory of one of the stream's base pointers, aligned to 16 bytes.
typedef struct {
  uint8_t *data;
  uint32_t size;  // bytes
  bool writable;
} ethos_u_region;

typedef struct ethos_u_device ethos_u_device;

struct ethos_u_device {
  // Starts a stream on ETHOS_U_REGION_COUNT regions; an absent region has size 0. The stream and
  // the memory of the regions must stay valid until it has ended. The array need not.
  ethos_u_status (*start)(ethos_u_device *device, const ethos_u_stream *stream,
                          const ethos_u_region *regions);
  // Returns whether `finish` would return at once.
  bool (*has_ended)(ethos_u_device *device);
  // Waits for the end of the started stream. Returns its status.
  ethos_u_status (*finish)(ethos_u_device *device);
  // Owner of the run: nonzero from a successful start to the end of its wait.
  volatile uint32_t busy;
};

// Working memory of a run, aligned to 16 bytes. If the driver maintains a data cache, start and
// size are aligned to cache lines (driver/driver.h). `fast` is for payloads compiled with Vela's
// Dedicated_Sram modes, as their cache; else null and 0. It must have the size given to Vela. No
// payload contains that size, and an NPU writes wherever its program directs it. The build checks
// plans.
typedef struct {
  uint8_t *data;
  uint32_t size;  // bytes, at least payload->scratch_size
  uint8_t *fast;
  uint32_t fast_size;
} ethos_u_scratch;

// One inference: copies inputs into the scratch, executes, copies outputs out. `inputs` and
// `outputs` have one pointer to each tensor's bytes; ethos_u_payload_input gives their number and
// shape. A null pointer, or the pointer of ethos_u_scratch_tensor, copies nothing: the caller reads
// or writes the tensor in place.
ETHOS_U_MUST_USE ethos_u_status ethos_u_run(ethos_u_device *device, const ethos_u_payload *payload,
                                            const ethos_u_scratch *scratch,
                                            const void *const *inputs, void *const *outputs);

// Same in two calls; the core is free between them. ethos_u_start copies the inputs in.
// ethos_u_wait, with the same payload and scratch, waits for the end and copies the outputs out. A
// failed start needs no wait.
//
// A device runs one inference at a time. If threads or handlers share one, the second start returns
// ETHOS_U_ERROR_BUSY, in either form, and changes nothing. A wait without a start returns
// ETHOS_U_ERROR_NOT_STARTED.
ETHOS_U_MUST_USE ethos_u_status ethos_u_start(ethos_u_device *device,
                                              const ethos_u_payload *payload,
                                              const ethos_u_scratch *scratch,
                                              const void *const *inputs);
ETHOS_U_MUST_USE ethos_u_status ethos_u_wait(ethos_u_device *device, const ethos_u_payload *payload,
                                             const ethos_u_scratch *scratch, void *const *outputs);

// Returns whether ethos_u_wait would return at once, also if nothing was started.
bool ethos_u_has_ended(ethos_u_device *device);

// Address of a tensor in the scratch, or null if it does not fit.
uint8_t *ethos_u_scratch_tensor(const ethos_u_scratch *scratch, const ethos_u_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_DEVICE_H_
