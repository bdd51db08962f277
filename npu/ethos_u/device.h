// SPDX-License-Identifier: Apache-2.0
// What executes payloads: the NPU behind its driver (driver/driver.h) or the functional model
// (model/model_device.h). A program is the same for both.
#ifndef FIRMWARE_ETHOS_U_DEVICE_H_
#define FIRMWARE_ETHOS_U_DEVICE_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu/ethos_u/payload.h"
#include "npu/ethos_u/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Memory behind one of the stream's base pointers, aligned to 16 bytes.
typedef struct {
  uint8_t *data;
  uint32_t size;  // bytes
  bool writable;
} ethos_u_region;

typedef struct ethos_u_device ethos_u_device;

struct ethos_u_device {
  // Starts a stream on ETHOS_U_REGION_COUNT regions, size 0 where there is none. The stream and
  // what the regions are of stay until it has ended; the array need not.
  ethos_u_status (*start)(ethos_u_device *device, const ethos_u_stream *stream,
                          const ethos_u_region *regions);
  // Whether `finish` would return at once.
  bool (*has_ended)(ethos_u_device *device);
  // Waits until what was started has ended. Gives how.
  ethos_u_status (*finish)(ethos_u_device *device);
  // Whose run it is: not 0 from a start that went well to the end of its wait.
  volatile uint32_t busy;
};

// Working memory of a run, aligned to 16 bytes, and where the driver maintains a data cache start
// and size to cache lines (driver/driver.h). `fast` is for payloads that were compiled with
// Vela's Dedicated_Sram modes, whose cache it is; else null and 0. It must be as large as Vela was
// told: no payload says that, and an NPU writes where its program says. The build checks plans.
typedef struct {
  uint8_t *data;
  uint32_t size;  // bytes, at least payload->scratch_size
  uint8_t *fast;
  uint32_t fast_size;
} ethos_u_scratch;

// One inference: copies inputs into the scratch, executes, copies outputs out. `inputs` and
// `outputs` have one pointer to each tensor's bytes (ethos_u_payload_input says how many, in which
// shape). A null pointer, or ethos_u_scratch_tensor's, copies nothing: the caller reads or writes
// the tensor where it is.
ETHOS_U_MUST_USE ethos_u_status ethos_u_run(ethos_u_device *device, const ethos_u_payload *payload,
                                            const ethos_u_scratch *scratch,
                                            const void *const *inputs, void *const *outputs);

// The same in two calls, between which the core is free. ethos_u_start copies the inputs in;
// ethos_u_wait, with the same payload and scratch, waits for the end and copies the outputs out. A
// start that fails wants no wait.
//
// A device runs one inference at a time: where threads or handlers share one, the second to start,
// in either form, gets ETHOS_U_ERROR_BUSY, and nothing was touched. A wait without a start is
// ETHOS_U_ERROR_NOT_STARTED.
ETHOS_U_MUST_USE ethos_u_status ethos_u_start(ethos_u_device *device,
                                              const ethos_u_payload *payload,
                                              const ethos_u_scratch *scratch,
                                              const void *const *inputs);
ETHOS_U_MUST_USE ethos_u_status ethos_u_wait(ethos_u_device *device, const ethos_u_payload *payload,
                                             const ethos_u_scratch *scratch, void *const *outputs);

// Whether ethos_u_wait has nothing to wait for, also where nothing was started.
bool ethos_u_has_ended(ethos_u_device *device);

// Where a tensor lies in the scratch, or null if it does not fit it.
uint8_t *ethos_u_scratch_tensor(const ethos_u_scratch *scratch, const ethos_u_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_DEVICE_H_
