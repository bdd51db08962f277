// SPDX-License-Identifier: Apache-2.0
//
// Marks in the last sector of a slot that record its progress. Each is written once, as a unit of
// flash. A write interrupted by a power loss is not repeated in its place: each mark has three.
#ifndef FIRMWARE_SLOT_MARKS_H_
#define FIRMWARE_SLOT_MARKS_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/slot/flash.h"

#define PL_MARK_PLACES 3u

typedef enum {
  PL_MARK_COMPLETE = 0,  // the package is whole
  PL_MARK_TRIED,         // a trial began: as often as it has this mark, whole or not
  PL_MARK_CONFIRMED,     // its self-test came out
  PL_MARK_REJECTED,      // it did not
} pl_mark;

#define PL_MARKS 4u

// `sector` is the offset of the slot's last one.
bool pl_mark_is_set(const pl_flash *flash, uint32_t sector, pl_mark mark);

// Number of written places of a mark.
uint32_t pl_mark_places(const pl_flash *flash, uint32_t sector, pl_mark mark);

// Sets a mark in the next place; false if there is none, or if the flash failed.
bool pl_mark_set(const pl_flash *flash, uint32_t sector, pl_mark mark);

#endif  // FIRMWARE_SLOT_MARKS_H_
