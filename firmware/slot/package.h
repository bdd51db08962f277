// SPDX-License-Identifier: Apache-2.0
//
// A model package: a signed, position-independent plan as data. aot/slot/pack.py writes it. All
// numbers are little-endian. All offsets count from the package's first byte, which is aligned to
// 16.
//
//   header       pl_package_header; its last 64 bytes are the signature of all before
//   kernels      pl_package_kernel each
//   relocations  a word each: offset in the tables, a multiple of 4, plus a
//                pl_relocation
//   tables       all data with addresses: copied to RAM and relocated there
//   constants    weights and all else never written
//   vectors      self-test: for each one all inputs, then all expected outputs
//
// A relocated word of the tables holds an offset or the number of a kernel. The loader adds the
// base address to an offset.
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
  char core[32];              // as in the board's data, padded with zeros
  char name[32];              // of the model, likewise
  uint8_t contents[64];       // SHA-512 of all that follows the header
  uint8_t signature[PL_SIGNATURE_BYTES];
} pl_package_header;

typedef struct {
  uint32_t abi;
  char name[60];  // ends with a zero
} pl_package_kernel;

// Permitted ranges of a package's addresses.
typedef struct {
  const uint8_t *package;
  uint32_t package_bytes;
  uint8_t *tables;
  uint32_t table_bytes;
  uint8_t *arena;
  uint32_t arena_bytes;
} pl_bounds;

// A kernel available to packages. `code` describes the memory accessed by a call (bounds.h).
typedef struct {
  const char *name;
  uint32_t abi;
  pl_step_fn run;
  const uint8_t *code;
} pl_slot_kernel;

// A firmware's kernels for packages; slot_kernels() of slot.bzl makes it.
typedef struct {
  const char *core;
  uint32_t plan_abi;
  const pl_slot_kernel *kernels;
  uint32_t count;
} pl_slot_kernels;

// The model for which a firmware accepts packages. The header from slot_kernels() has one for each
// of its models. Scales and zero points are free: each plan has those of its own model.
typedef struct {
  const char *name;
  uint32_t io;  // as in pl_package_header
} pl_slot_model;

// Checks a header with sizeof(pl_package_header) available bytes: form, signature, core, model.
PL_MUST_USE pl_slot_status pl_package_check_header(const pl_package_header *header,
                                                   const uint8_t public_key[PL_PUBLIC_KEY_BYTES],
                                                   const pl_slot_kernels *kernels,
                                                   const pl_slot_model *model);

// Checks a whole package of at most `bytes` bytes: the header, contents, required memory, kernels.
// It reads nothing outside of the package and writes nothing.
PL_MUST_USE pl_slot_status pl_package_check(const uint8_t *package, uint32_t bytes,
                                            const uint8_t public_key[PL_PUBLIC_KEY_BYTES],
                                            const pl_slot_kernels *kernels,
                                            const pl_slot_model *model, uint32_t memory_bytes);

// Bytes of memory a package needs for tables and arena; UINT32_MAX if they overflow.
uint32_t pl_package_memory(const pl_package_header *header);

// Makes the plan of a package in `memory`, aligned to 16: tables first, then the arena. It trusts
// only that `bytes` bytes can be read. Regardless of the signer, no address or size in the package
// leads outside. `busy` becomes the plan's.
PL_MUST_USE pl_slot_status pl_package_load(const uint8_t *package, uint32_t bytes,
                                           const pl_slot_kernels *kernels, uint8_t *memory,
                                           uint32_t memory_bytes, volatile uint32_t *busy,
                                           const pl_plan **plan);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_SLOT_PACKAGE_H_
