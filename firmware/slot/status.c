// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/status.h"

#include <stdint.h>

// One after another, in the order of pl_slot_status: pointers would add a fifth of the size.
static const char texts[] =
    "ok\0"
    "no model in a slot\0"      // PL_SLOT_EMPTY
    "bad slot configuration\0"  // PL_SLOT_CONFIG
    "flash write failed\0"      // PL_SLOT_FLASH
    "out of order\0"            // PL_SLOT_ORDER
    "not a package\0"           // PL_SLOT_NO_PACKAGE
    "another format\0"          // PL_SLOT_FORMAT
    "truncated\0"               // PL_SLOT_TRUNCATED
    "larger than a slot\0"      // PL_SLOT_TOO_LARGE
    "wrong signature\0"         // PL_SLOT_SIGNATURE
    "wrong contents\0"          // PL_SLOT_CONTENTS
    "for another core\0"        // PL_SLOT_BOARD
    "another model\0"           // PL_SLOT_MODEL
    "not newer\0"               // PL_SLOT_OLDER
    "memory too small\0"        // PL_SLOT_MEMORY
    "kernel missing\0"          // PL_SLOT_KERNEL
    "another kernel version\0"  // PL_SLOT_KERNEL_VERSION
    "address out of bounds\0"   // PL_SLOT_BOUNDS
    "self-test failed\0"        // PL_SLOT_SELF_TEST
    "rejected before\0"         // PL_SLOT_REJECTED
    "unknown status";

const char *pl_slot_status_text(pl_slot_status status) {
  uint32_t before = (uint32_t)status <= PL_SLOT_REJECTED ? (uint32_t)status : PL_SLOT_REJECTED + 1;
  const char *text = texts;
  while (before > 0) {
    if (*text++ == '\0') --before;
  }
  return text;
}
