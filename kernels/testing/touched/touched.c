// SPDX-License-Identifier: Apache-2.0
#include "kernels/testing/touched/touched.h"

#include <stdio.h>
#include <string.h>

// Kernels are compiled with -fsanitize=thread, but linked with the functions below in place of the
// sanitizer's: GCC calls one of them before each access.

uint8_t pl_touched_arena[PL_TOUCHED_ARENA_BYTES] __attribute__((aligned(16)));

// Number of the last read and of the first write of each byte, 0 if there is none.
static uint32_t last_read[PL_TOUCHED_ARENA_BYTES];
static uint32_t first_write[PL_TOUCHED_ARENA_BYTES];
static uint32_t accesses;

static void touch(const void *address, size_t bytes, int is_write) {
  const size_t start = (size_t)((const uint8_t *)address - pl_touched_arena);
  if (start >= PL_TOUCHED_ARENA_BYTES) return;
  ++accesses;
  for (size_t i = start; i < start + bytes && i < PL_TOUCHED_ARENA_BYTES; ++i) {
    if (!is_write) {
      last_read[i] = accesses;
    } else if (first_write[i] == 0) {
      first_write[i] = accesses;
    }
  }
}

#define HOOKS(BYTES)                                                                   \
  void __tsan_read##BYTES(const void *address) { touch(address, BYTES, 0); }           \
  void __tsan_write##BYTES(const void *address) { touch(address, BYTES, 1); }          \
  void __tsan_unaligned_read##BYTES(const void *address) { touch(address, BYTES, 0); } \
  void __tsan_unaligned_write##BYTES(const void *address) { touch(address, BYTES, 1); }

void __tsan_read1(const void *address) { touch(address, 1, 0); }
void __tsan_write1(const void *address) { touch(address, 1, 1); }
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
void __tsan_read_range(const void *address, size_t bytes) { touch(address, bytes, 0); }
void __tsan_write_range(const void *address, size_t bytes) { touch(address, bytes, 1); }
void __tsan_init(void) {}
void __tsan_func_entry(const void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

// Prints the largest distance from a byte of the source to a byte of the result that is written
// before the last read of the former, and whether there are such bytes at the same place.
static void print_distance(const pl_touched_operand *source, const pl_touched_operand *result) {
  long most = -(long)PL_TOUCHED_ARENA_BYTES;
  int same = 0;
  for (uint32_t s = 0; s < source->bytes; ++s) {
    const uint32_t read = last_read[source->offset + s];
    for (uint32_t r = result->bytes; read > 0 && r > 0 && (long)(r - 1) - (long)s > most; --r) {
      const uint32_t written = first_write[result->offset + r - 1];
      if (written > 0 && written < read) most = (long)(r - 1) - (long)s;
    }
    const uint32_t written = s < result->bytes ? first_write[result->offset + s] : 0;
    same |= written > 0 && written < read;
  }
  printf(" %ld %d", most, same);
}

// Prints the first and the last byte that were read or written, relative to the operand. Guards
// belong to the operand between them.
static void print_operand(const pl_touched_operand *operand, const uint32_t *when) {
  long first = 0;
  long last = -1;
  const long guard = PL_TOUCHED_GUARD;
  for (long i = -guard; i < (long)operand->bytes + guard; ++i) {
    if (when[operand->offset + i] == 0) continue;
    if (last < first) first = i;
    last = i;
  }
  printf(" %ld %ld", first, last + 1);
}

void pl_touched_run(const pl_touched_call *call) {
  memset(last_read, 0, sizeof(last_read));
  memset(first_write, 0, sizeof(first_write));
  accesses = 0;
  for (uint32_t i = 0; i < call->count; ++i) {
    const pl_touched_operand *const operand = &call->operands[i];
    if (operand->contents == NULL) continue;
    memcpy(pl_touched_arena + operand->offset, operand->contents, operand->bytes);
  }
  const pl_context context = {pl_touched_arena + call->scratch, call->scratch_bytes};
  printf("%d", (int)call->run(&context));
  for (uint32_t i = 0; i < call->count; ++i) {
    print_operand(&call->operands[i], last_read);
    print_operand(&call->operands[i], first_write);
  }
  for (uint32_t i = 0; i < call->pair_count; ++i) {
    print_distance(&call->operands[call->pairs[i][0]], &call->operands[call->pairs[i][1]]);
  }
  printf("\n");
}
