// SPDX-License-Identifier: Apache-2.0
#include "firmware/slot/package.h"

#include <stddef.h>
#include <string.h>

#include "firmware/slot/bounds.h"
#include "firmware/slot/sha512.h"
#include "firmware/slot/signature.h"

_Static_assert(sizeof(pl_package_header) == 268, "the layout of pack.py");

// Returns true if a zero-padded field equals a name. (strncmp is three times as large.)
static bool is_named(const char *field, uint32_t bytes, const char *name) {
  for (uint32_t i = 0; i < bytes; ++i) {
    if (field[i] != name[i]) return false;
    if (name[i] == '\0') break;
  }
  return true;
}

pl_slot_status pl_package_check_header(const pl_package_header *header,
                                       const uint8_t public_key[PL_PUBLIC_KEY_BYTES],
                                       const pl_slot_kernels *kernels, const pl_slot_model *model) {
  if (header->magic != PL_PACKAGE_MAGIC) return PL_SLOT_NO_PACKAGE;
  if (header->format != PL_PACKAGE_FORMAT) return PL_SLOT_FORMAT;
  if (!pl_is_signed(header->signature, public_key, (const uint8_t *)header,
                    offsetof(pl_package_header, signature))) {
    return PL_SLOT_SIGNATURE;
  }
  if (header->plan_abi != kernels->plan_abi) return PL_SLOT_FORMAT;
  if (!is_named(header->core, sizeof header->core, kernels->core)) return PL_SLOT_BOARD;
  if (header->io != model->io || !is_named(header->name, sizeof header->name, model->name)) {
    return PL_SLOT_MODEL;
  }
  return PL_SLOT_OK;
}

uint32_t pl_package_memory(const pl_package_header *header) {
  return pl_plus(pl_up(header->tables.count, PL_PACKAGE_ALIGNMENT), header->arena_bytes);
}

// Returns true if a part of `count` entries of `size` bytes lies after the header, aligned to
// `alignment`.
static bool has_part(const pl_package_header *header, const pl_package_part *part, uint32_t size,
                     uint32_t alignment) {
  return part->offset >= sizeof *header && part->offset <= header->bytes &&
         part->offset % alignment == 0 &&
         pl_times(part->count, size) <= header->bytes - part->offset;
}

static bool has_parts(const pl_package_header *header) {
  return has_part(header, &header->kernels, sizeof(pl_package_kernel), 4) &&
         has_part(header, &header->relocations, 4, 4) && has_part(header, &header->tables, 1, 16) &&
         has_part(header, &header->constants, 1, 16) && has_part(header, &header->vectors, 1, 16);
}

// Finds the firmware's kernel for an entry of a package.
static pl_slot_status find_kernel(const pl_package_kernel *wanted, const pl_slot_kernels *kernels,
                                  const pl_slot_kernel **found) {
  for (uint32_t i = 0; i < kernels->count; ++i) {
    *found = &kernels->kernels[i];
    if (is_named(wanted->name, sizeof wanted->name, (*found)->name)) {
      return (*found)->abi == wanted->abi ? PL_SLOT_OK : PL_SLOT_KERNEL_VERSION;
    }
  }
  return PL_SLOT_KERNEL;
}

static const pl_package_kernel *kernels_of(const uint8_t *package) {
  const pl_package_header *const header = (const void *)package;
  return (const void *)(package + header->kernels.offset);
}

// Checks the form of a package with a readable header, and that its kernels exist.
static pl_slot_status check_form(const uint8_t *package, uint32_t bytes,
                                 const pl_slot_kernels *kernels, uint32_t memory_bytes) {
  const pl_package_header *const header = (const void *)package;
  if (header->bytes > bytes) return PL_SLOT_TRUNCATED;
  if (header->bytes < sizeof *header || !has_parts(header)) return PL_SLOT_BOUNDS;
  if (pl_package_memory(header) > memory_bytes) return PL_SLOT_MEMORY;
  for (uint32_t i = 0; i < header->kernels.count; ++i) {
    const pl_slot_kernel *found = NULL;
    const pl_slot_status status = find_kernel(&kernels_of(package)[i], kernels, &found);
    if (status != PL_SLOT_OK) return status;
  }
  return PL_SLOT_OK;
}

pl_slot_status pl_package_check(const uint8_t *package, uint32_t bytes,
                                const uint8_t public_key[PL_PUBLIC_KEY_BYTES],
                                const pl_slot_kernels *kernels, const pl_slot_model *model,
                                uint32_t memory_bytes) {
  const pl_package_header *const header = (const void *)package;
  if (bytes < sizeof *header) return PL_SLOT_TRUNCATED;
  const pl_slot_status status = pl_package_check_header(header, public_key, kernels, model);
  if (status != PL_SLOT_OK) return status;
  if (header->bytes > bytes) return PL_SLOT_TRUNCATED;
  if (header->bytes < sizeof *header) return PL_SLOT_BOUNDS;
  pl_sha512 sha;
  uint8_t digest[64];
  pl_sha512_begin(&sha);
  pl_sha512_add(&sha, package + sizeof *header, header->bytes - (uint32_t)sizeof *header);
  pl_sha512_end(&sha, digest);
  if (memcmp(digest, header->contents, sizeof digest) != 0) return PL_SLOT_CONTENTS;
  return check_form(package, bytes, kernels, memory_bytes);
}

static bool relocate(const uint8_t *package, const pl_slot_kernels *kernels,
                     const pl_bounds *bounds) {
  const pl_package_header *const header = (const void *)package;
  const uint32_t *const places = (const void *)(package + header->relocations.offset);
  for (uint32_t i = 0; i < header->relocations.count; ++i) {
    const uint32_t place = places[i] & ~3u;
    if (place % sizeof(uintptr_t) != 0 || place > bounds->table_bytes ||
        bounds->table_bytes - place < sizeof(uintptr_t)) {
      return false;
    }
    uintptr_t word = 0;
    memcpy(&word, bounds->tables + place, sizeof word);
    switch ((pl_relocation)(places[i] & 3u)) {
      case PL_RELOCATION_TABLES:
        word += (uintptr_t)bounds->tables;
        break;
      case PL_RELOCATION_PACKAGE:
        word += (uintptr_t)package;
        break;
      case PL_RELOCATION_ARENA:
        word += (uintptr_t)bounds->arena;
        break;
      default: {
        const pl_slot_kernel *found = NULL;
        if (word >= header->kernels.count ||
            find_kernel(&kernels_of(package)[word], kernels, &found) != PL_SLOT_OK) {
          return false;
        }
        word = (uintptr_t)found->run;
      }
    }
    memcpy(bounds->tables + place, &word, sizeof word);
  }
  return true;
}

// Returns true if the vectors have the length of the plan's tensors.
static bool has_vectors(const pl_package_header *header, const pl_plan *plan) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < plan->input_count; ++i) {
    bytes = pl_plus(bytes, plan->inputs[i].spec.bytes);
  }
  for (uint32_t i = 0; i < plan->output_count; ++i) {
    bytes = pl_plus(bytes, plan->outputs[i].spec.bytes);
  }
  return pl_times(bytes, header->vector_count) == header->vectors.count;
}

pl_slot_status pl_package_load(const uint8_t *package, uint32_t bytes,
                               const pl_slot_kernels *kernels, uint8_t *memory,
                               uint32_t memory_bytes, volatile uint32_t *busy,
                               const pl_plan **plan) {
  const pl_package_header *const header = (const void *)package;
  *plan = NULL;
  if (bytes < sizeof *header) return PL_SLOT_TRUNCATED;
  const pl_slot_status status = check_form(package, bytes, kernels, memory_bytes);
  if (status != PL_SLOT_OK) return status;
  const pl_bounds bounds = {
      .package = package,
      .package_bytes = header->bytes,
      .tables = memory,
      .table_bytes = header->tables.count,
      .arena = memory + pl_up(header->tables.count, PL_PACKAGE_ALIGNMENT),
      .arena_bytes = header->arena_bytes,
  };
  memcpy(memory, package + header->tables.offset, header->tables.count);
  pl_plan *const made = (pl_plan *)(void *)(memory + header->plan);
  if (header->plan > header->tables.count || !relocate(package, kernels, &bounds) ||
      !pl_plan_is_inside(&bounds, made, kernels) || !has_vectors(header, made)) {
    return PL_SLOT_BOUNDS;
  }
  made->busy = busy;
  made->shares_arena = 0;
  if (made->states != NULL) {
    // It lies in the tables; this was checked.
    ((pl_states *)(uintptr_t)made->states)->reset = pl_states_reset;
  }
  *plan = made;
  return PL_SLOT_OK;
}
