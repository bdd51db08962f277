// SPDX-License-Identifier: Apache-2.0
//
// Whether what a package says stays inside of it and of its arena. The checks of kernels' calls,
// which kernel_table.py writes from bounds.py, are made of these.
#ifndef FIRMWARE_SLOT_BOUNDS_H_
#define FIRMWARE_SLOT_BOUNDS_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/slot/package.h"

// Sums and products of sizes; what overflows is UINT32_MAX, which nothing has.
uint32_t pl_plus(uint32_t a, uint32_t b);
uint32_t pl_times(uint32_t a, uint32_t b);
// The next multiple of `of`.
uint32_t pl_up(uint32_t a, uint32_t of);
// Elements from the first to the last of nested loops, plus one; sizes are at least 1.
uint32_t pl_span(const int32_t *sizes, const int32_t *strides, uint32_t count);
// Product of sizes.
uint32_t pl_product(const int32_t *sizes, uint32_t count);

// Whether `count` words from `words` on are in [low, high].
bool pl_are_in(const int32_t *words, uint32_t count, int32_t low, int32_t high);

// Whether `count` elements of `size` bytes, aligned to it, are what a kernel may write: the arena.
bool pl_is_writable(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size);
// … what nothing changes: the tables or the package.
bool pl_is_constant(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size);
// … one of both.
bool pl_is_readable(const pl_bounds *bounds, const void *data, uint32_t count, uint32_t size);
// Whether the structs of a call are constant; of 0 bytes where there is none.
bool pl_has_structs(const pl_bounds *bounds, const pl_step *step, uint32_t params, uint32_t dims,
                    uint32_t data);
// Whether factors of `count` channels are there: a multiplier and a shift each, in two arrays or,
// where `shift` is null, in one.
bool pl_are_factors(const pl_bounds *bounds, const int32_t *multiplier, const int32_t *shift,
                    uint32_t count);

// Whether a plan that was made in the tables has nothing that leads outside.
bool pl_plan_is_inside(const pl_bounds *bounds, const pl_plan *plan,
                       const pl_slot_kernels *kernels);

#endif  // FIRMWARE_SLOT_BOUNDS_H_
