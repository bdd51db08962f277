// SPDX-License-Identifier: Apache-2.0
//
// Two slots of flash for model packages: one has the running model, the other takes the next one.
//
//   pl_slot_status status = pl_slot_open(&slot, &config);
//   if (status == PL_SLOT_OK) ... pl_model_init(&model, slot.plan) ...
//
// The packages' signatures are checked at every start. A new package is tried: its self-test runs,
// and a success confirms it. If it fails, or if the program ended in it three times, it is
// rejected, and the previous model runs. Start a watchdog before, to reset a program that hangs.
// Power may be lost at any time: the old model or the new one runs.
//
//   status = pl_slot_begin(&slot, header, &offset);       the first bytes of the package
//   while (...) status = pl_slot_write(&slot, piece, bytes);   from `offset` on
//   status = pl_slot_finish(&slot);
//
// These calls write the next one while the old one runs; it is tried at the next pl_slot_open.
#ifndef FIRMWARE_SLOT_SLOT_H_
#define FIRMWARE_SLOT_SLOT_H_

#include <stdint.h>

#include "firmware/slot/flash.h"
#include "firmware/slot/package.h"
#include "firmware/slot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PL_SLOTS 2u

// Memory for tables and arena of a model in a slot; other models' outputs are kept out of it.
#define PL_SLOT_MEMORY(NAME, BYTES)                        \
  static uint8_t NAME[BYTES] __attribute__((aligned(16))); \
  PL_ARENA_TABLE static const pl_arena NAME##_table __attribute__((used)) = {(NAME), sizeof(NAME)}

typedef struct {
  pl_flash flash;
  uint32_t offset[PL_SLOTS];  // of the slots, multiples of a sector
  uint32_t bytes;             // of each, two sectors at least: the last one is for marks
  const pl_slot_kernels *kernels;
  pl_slot_model model;  // packages of another one are refused
  uint8_t public_key[PL_PUBLIC_KEY_BYTES];
  uint8_t *memory;  // PL_SLOT_MEMORY
  uint32_t memory_bytes;
} pl_slot_config;

// Owned by the caller. Private except for the first fields, the results of pl_slot_open.
typedef struct {
  const pl_plan *plan;             // the running plan; null if there is none
  uint32_t running;                // its slot; PL_SLOTS if there is none
  uint32_t version;                // its version
  pl_slot_status found[PL_SLOTS];  // content of each slot
  const pl_slot_config *config;
  volatile uint32_t busy;
  uint32_t target;  // being written; PL_SLOTS: none
  uint32_t at;      // so far
  uint32_t end;     // of the package
} pl_slot;

// Initializes the newest working model. PL_SLOT_EMPTY if there is none; `found` has the reasons.
PL_MUST_USE pl_slot_status pl_slot_open(pl_slot *slot, const pl_slot_config *config);

// Checks the running package again: signature, contents and version. Call it before each run if
// another party may change the flash at any time, e.g. an external one. PL_SLOT_EMPTY if none runs.
PL_MUST_USE pl_slot_status pl_slot_check(const pl_slot *slot);

// Begins to write a package with `header` as its first bytes. Everything in the header is checked
// before anything is erased. *offset is the position to continue at: 0, or more if an earlier write
// of the same package was interrupted.
PL_MUST_USE pl_slot_status pl_slot_begin(pl_slot *slot, const pl_package_header *header,
                                         uint32_t *offset);

// Writes the next bytes: a multiple of the flash's write_bytes, but at the package's end.
PL_MUST_USE pl_slot_status pl_slot_write(pl_slot *slot, const uint8_t *data, uint32_t bytes);

// Checks all written data, and requests its trial at the next pl_slot_open.
PL_MUST_USE pl_slot_status pl_slot_finish(pl_slot *slot);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_SLOT_H_
