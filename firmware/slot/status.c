// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/status.h"

static const char *const texts[] = {
    [PL_SLOT_OK] = "ok",
    [PL_SLOT_EMPTY] = "no slot has a model that runs",
    [PL_SLOT_CONFIG] = "slots, memory or flash are not as they are said to be",
    [PL_SLOT_FLASH] = "the flash does not hold what was written",
    [PL_SLOT_ORDER] = "written out of order",
    [PL_SLOT_NO_PACKAGE] = "not a model package",
    [PL_SLOT_FORMAT] = "made for another version of the format",
    [PL_SLOT_TRUNCATED] = "the package is truncated",
    [PL_SLOT_TOO_LARGE] = "the package is larger than a slot",
    [PL_SLOT_SIGNATURE] = "not signed by the key of this firmware",
    [PL_SLOT_CONTENTS] = "the contents are not those that were signed",
    [PL_SLOT_BOARD] = "made for another core",
    [PL_SLOT_OLDER] = "not newer than the model that runs",
    [PL_SLOT_MEMORY] = "the memory for its arena is too small",
    [PL_SLOT_KERNEL] = "needs a kernel that the firmware has not",
    [PL_SLOT_KERNEL_VERSION] = "needs a kernel in another version",
    [PL_SLOT_BOUNDS] = "an address is outside of package and arena",
    [PL_SLOT_SELF_TEST] = "its self-test failed",
    [PL_SLOT_REJECTED] = "it was tried and rejected before",
};

const char *pl_slot_status_text(pl_slot_status status) {
  return (unsigned)status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}
