// SPDX-License-Identifier: Apache-2.0
//
// A model package: a plan as data at no particular address, signed. aot/slot/pack.py writes
// it. All numbers are little-endian, all offsets count from the package's first byte, which is
// aligned to 16.
//
//   header       pl_package_header; its last 64 bytes are the signature of all before them
//   kernels      pl_package_kernel each
//   relocations  a word each: offset in the tables, a multiple of 4, plus a pl_relocation
//   tables       what has addresses in it: copied to RAM, where they are made
//   constants    weights and all else that is never written
//   vectors      self-test: for each one all inputs, then all outputs that are to come out
//
// A word of the tables that a relocation names holds an offset, to which the address of what it is
// an offset in is added, or the number of a kernel.
#ifndef FIRMWARE_SLOT_PACKAGE_H_
#define FIRMWARE_SLOT_PACKAGE_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/runtime/plan.h"
#include "firmware/slot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PL_PACKAGE_MAGIC 0x4b504c50u  // "PLPK"
#define PL_PACKAGE_FORMAT 2u
#define PL_PACKAGE_ALIGNMENT 16u
#define PL_SIGNATURE_BYTES 64u
#define PL_PUBLIC_KEY_BYTES 32u

typedef enum {
  PL_RELOCATION_TABLES = 0,
  PL_RELOCATION_PACKAGE = 1,
  PL_RELOCATION_ARENA = 2,
  PL_RELOCATION_KERNEL = 3,
} pl_relocation;

typedef struct {
  uint32_t offset;
  uint32_t count;  // bytes, or entries
} pl_package_part;

typedef struct {
  uint32_t magic;
  uint32_t format;
  uint32_t plan_abi;  // of the structs of plans, see pl_slot_kernels
  uint32_t bytes;     // of the whole package
  uint32_t version;   // major << 24 | minor << 16 | patch
  uint32_t arena_bytes;
  uint32_t plan;  // offset of the pl_plan in the tables
  uint32_t vector_count;
  pl_package_part kernels;
  pl_package_part relocations;
  pl_package_part tables;     // bytes
  pl_package_part constants;  // bytes
  pl_package_part vectors;    // bytes
  uint32_t io;                // hash of dtypes, layouts and shapes of inputs and outputs: abi.py
  char core[32];              // as the board has it, filled with zeros
  char name[32];              // of the model, likewise
  uint8_t contents[64];       // SHA-512 of all that follows the header
  uint8_t signature[PL_SIGNATURE_BYTES];
} pl_package_header;

typedef struct {
  uint32_t abi;
  char name[60];  // ends with a zero
} pl_package_kernel;

// Where the addresses of a package may lie.
typedef struct {
  const uint8_t *package;
  uint32_t package_bytes;
  uint8_t *tables;
  uint32_t table_bytes;
  uint8_t *arena;
  uint32_t arena_bytes;
} pl_bounds;

// A kernel that packages may call. `code` says what memory a call of it touches (bounds.h).
typedef struct {
  const char *name;
  uint32_t abi;
  pl_step_fn run;
  const uint8_t *code;
} pl_slot_kernel;

// What a firmware has for packages; slot_kernels() of slot.bzl makes it.
typedef struct {
  const char *core;
  uint32_t plan_abi;
  const pl_slot_kernel *kernels;
  uint32_t count;
} pl_slot_kernels;

// The model that a firmware takes packages of; the header that slot_kernels() writes has one for
// each of its models. Scales and zero points are free: the plan has those of its model.
typedef struct {
  const char *name;
  uint32_t io;  // as in pl_package_header
} pl_slot_model;

// Checks a header of which sizeof(pl_package_header) bytes are there: form, signature, core, model.
PL_MUST_USE pl_slot_status pl_package_check_header(const pl_package_header *header,
                                                   const uint8_t public_key[PL_PUBLIC_KEY_BYTES],
                                                   const pl_slot_kernels *kernels,
                                                   const pl_slot_model *model);

// Checks a package of at most `bytes` bytes, all of it: the header, contents, memory that it needs,
// kernels. Nothing outside of it is read, nothing is written.
PL_MUST_USE pl_slot_status pl_package_check(const uint8_t *package, uint32_t bytes,
                                            const uint8_t public_key[PL_PUBLIC_KEY_BYTES],
                                            const pl_slot_kernels *kernels,
                                            const pl_slot_model *model, uint32_t memory_bytes);

// Bytes of memory that a package needs for tables and arena; UINT32_MAX if they overflow.
uint32_t pl_package_memory(const pl_package_header *header);

// Makes the plan of a package in `memory`, aligned to 16: tables first, then the arena. Trusts
// nothing but that `bytes` bytes can be read: whoever signed it, no address or size in it leads
// outside. `busy` becomes the plan's.
PL_MUST_USE pl_slot_status pl_package_load(const uint8_t *package, uint32_t bytes,
                                           const pl_slot_kernels *kernels, uint8_t *memory,
                                           uint32_t memory_bytes, volatile uint32_t *busy,
                                           const pl_plan **plan);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_PACKAGE_H_
