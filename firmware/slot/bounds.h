// SPDX-License-Identifier: Apache-2.0
//
// Bounds checks: the addresses and sizes in a package stay inside it and its arena.
#ifndef FIRMWARE_SLOT_BOUNDS_H_
#define FIRMWARE_SLOT_BOUNDS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/slot/package.h"

// Code for the memory accessed by a kernel's call: one byte for each operation or operand, in
// reverse Polish notation. bounds_code.py writes it from the kernel's access map. Words of the
// call's params come first, then those of its dims, then the pointers of its data. Values have 32
// bits. An overflow is INT32_MAX, more than any memory has.
#define PL_WORDS(STRUCT) (sizeof(STRUCT) / 4)
#define PL_POINTERS(STRUCT) (sizeof(STRUCT) / sizeof(void *))
#define PL_POINTER(STRUCT, FIELD) (offsetof(STRUCT, FIELD) / sizeof(void *))
#define PL_CODE_STACK 8

// Words from one field to another, and whether one is right after another.
#define PL_FIELDS(STRUCT, FIRST, LAST) \
  ((offsetof(STRUCT, LAST) + sizeof(((STRUCT *)0)->LAST) - offsetof(STRUCT, FIRST)) / 4)
#define PL_NEXT(STRUCT, FIELD, OTHER) \
  (offsetof(STRUCT, OTHER) == offsetof(STRUCT, FIELD) + sizeof(((STRUCT *)0)->FIELD))

// Words of a call, and small and larger numbers.
#define PL_DIMS_WORD(STRUCT, FIELD) (offsetof(STRUCT, FIELD) / 4)
#define PL_PARAMS_WORD(STRUCT, FIELD) (64 + offsetof(STRUCT, FIELD) / 4)
#define PL_NUMBER(N) (128 + (N))
#define PL_LONG(N) PL_CODE_LONG, (N) & 255, (N) >> 8 & 255, (N) >> 16

enum {
  PL_CODE_END = 192,  // the call stays inside
  PL_CODE_RANGE,      // word, count, 0 or 1, bits: words with that minimum and width
  PL_CODE_LONG,       // three bytes, the lowest first
  PL_CODE_PRODUCT,    // word, count: their product
  PL_CODE_SPAN,       // two words, count: elements of nested loops of these sizes and strides, from
                      // where they start to the last one
  PL_CODE_BELOW,      // likewise: elements before the start, for negative strides
  PL_CODE_EACH,       // pointer to a constant table, word with its length, words of an entry, first
                      // value: begins a loop over its entries
  PL_CODE_ENTRY,      // word: of the entry
  // Operations on one value:
  PL_CODE_NEED,         // ends it if that is 0
  PL_CODE_READ,         // pointer, bytes of an element: elements read
  PL_CODE_WRITE,        // likewise
  PL_CODE_READ_IF_ANY,  // likewise, or the pointer is null
  PL_CODE_FACTORS,  // pointers to multiplier and shift: channels of a multiplier and a shift each,
                    // in two arrays or, where shift is null, in one
  PL_CODE_SCRATCH,  // bytes
  PL_CODE_READ_ENTRY,  // bytes at the address an entry starts with: 1 if they can be read
  // Operations on two values:
  PL_CODE_ADD,
  PL_CODE_SUB,
  PL_CODE_MUL,
  PL_CODE_DIV,
  PL_CODE_MOD,
  PL_CODE_UP,     // to the next multiple
  PL_CODE_SHIFT,  // to the right
  PL_CODE_MAX,
  PL_CODE_LT,
  PL_CODE_LE,
  PL_CODE_EQ,
  PL_CODE_AND,
  PL_CODE_OR,
  PL_CODE_NEXT,    // operation: joins the values before and of an entry; goes on to the next one
  PL_CODE_SELECT,  // with three: a condition, and a value for either
};

// Sums and products of sizes; an overflow is UINT32_MAX, more than any memory has.
uint32_t pl_plus(uint32_t a, uint32_t b);
uint32_t pl_times(uint32_t a, uint32_t b);
// The next multiple of `of`.
uint32_t pl_up(uint32_t a, uint32_t of);

// Returns true if `count` elements of `size` bytes, aligned to it, lie in memory a kernel may
// write: the arena.
bool pl_is_writable(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size);
// … in memory that nothing changes: the tables or the package.
bool pl_is_constant(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size);
// … one of both.
bool pl_is_readable(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size);

// Returns true if a call stays inside, according to its kernel's code.
bool pl_call_is_inside(const pl_bounds *bounds, const pl_step *step, const uint8_t *code);

// Returns true if a plan built in the tables has no address or size that leads outside.
bool pl_plan_is_inside(const pl_bounds *bounds, const pl_plan *plan,
                       const pl_slot_kernels *kernels);

#endif  // FIRMWARE_SLOT_BOUNDS_H_
