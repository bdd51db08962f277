// SPDX-License-Identifier: Apache-2.0
// Errors of a model package, or of the slots holding it.
#ifndef FIRMWARE_SLOT_STATUS_H_
#define FIRMWARE_SLOT_STATUS_H_

#include "kernels/common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  PL_SLOT_OK = 0,
  PL_SLOT_EMPTY,           // there is no working model
  PL_SLOT_CONFIG,          // slots, memory or flash do not match pl_slot_config
  PL_SLOT_FLASH,           // the driver failed, or the flash does not hold the written data
  PL_SLOT_ORDER,           // a write without a begin, in pieces of a wrong size, or too many
  PL_SLOT_NO_PACKAGE,      // it does not begin as a package
  PL_SLOT_FORMAT,          // a package of another format, or for another version of plans
  PL_SLOT_TRUNCATED,       // it ends before its end
  PL_SLOT_TOO_LARGE,       // it does not fit into a slot
  PL_SLOT_SIGNATURE,       // not signed by this key, or its header was changed
  PL_SLOT_CONTENTS,        // its contents were changed
  PL_SLOT_BOARD,           // for another core
  PL_SLOT_MODEL,           // another model: another name, or other inputs or outputs
  PL_SLOT_OLDER,           // not newer than the running model
  PL_SLOT_MEMORY,          // the memory for arena and tables is too small
  PL_SLOT_KERNEL,          // a kernel missing in the firmware
  PL_SLOT_KERNEL_VERSION,  // a kernel with another version in the firmware
  PL_SLOT_BOUNDS,          // an address, a size or a call that leaves the package or the arena
  PL_SLOT_SELF_TEST,       // a vector of its self-test does not come out
  PL_SLOT_REJECTED,        // it was tried before, and failed
} pl_slot_status;

// The reason as one line for people; never null.
const char *pl_slot_status_text(pl_slot_status status);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_STATUS_H_
