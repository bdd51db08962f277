// SPDX-License-Identifier: Apache-2.0
//
// Counts executed instructions: of the whole run, of marked regions, and of every address.
//
// Arguments: out=FILE; for memories whose reads are counted, loads=FIRST-LAST each; for regions,
// begin=ADDRESS,end=ADDRESS,plan=ADDRESS (addresses are hexadecimal). These three are the functions
// marking regions (firmware/runtime/profile_cortex_m.c). The first two functions are a loop of two
// instructions and a return. The loop runs once more than the region's number. The third function
// encodes the plan of the regions, bit by bit. Instructions of these functions are not counted.
//
// The output is written at the end, one line each, with decimal numbers:
//
//   total INSTRUCTIONS
//   region NUMBER ENTRIES INSTRUCTIONS    instructions between begin and end, including
//                                         inner regions
//   at ADDRESS NUMBER INSTRUCTIONS        executions of one address in the innermost
//                                         region NUMBER; - stands for none
//   loads ADDRESS NUMBER LOADS            the same for its reads of the given memories
//   plan ADDRESS                          plan of the regions in all lines below, until
//                                         the next plan
//   error TEXT                            marks that do not match each other
//
// QEMU's host runs one guest CPU in one thread, so no locks are needed.
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/simulator/plugin/api.h"

enum {
  MAX_REGIONS = 4096,
  MAX_PLANS = 64,
  MAX_DEPTH = 16,
  MAX_MEMORIES = 8,
  MAX_ADDRESSES = 1 << 20,  // different instructions executed
  HASH_SIZE = 2 * MAX_ADDRESSES,
  OUTSIDE = MAX_REGIONS,  // "region" of code outside of all
  MARK_RETURN = 4,        // offset of the return in a marking function
  MARK_SIZE = 6,
  PLAN_BIT = 2,  // offsets in the plan function: for each bit, for each 0, the return
  PLAN_ZERO = 6,
  PLAN_RETURN = 12,
  PLAN_SIZE = 14,
};

typedef struct {
  uint64_t entries;
  uint64_t instructions;
  uint64_t *by_address;  // executions by index of address, while this region is the innermost
  uint64_t *loads;       // the same for reads of the given memories; NULL without any
} region;

typedef struct {
  uint64_t first;
  uint64_t last;
} range;

typedef struct {
  uint32_t number;
  unsigned int plan;
  uint64_t total_at_begin;
} open_region;

static const char *output_path;
// Not 0: there is the vector table.
static uint64_t begin_address;
static uint64_t end_address;
static uint64_t plan_address;
static uint32_t plans[MAX_PLANS] = {0};  // by index; the first is none
static unsigned int plan_count = 1;
static unsigned int plan;           // plan of newly entered regions
static uint32_t plan_bits;          // bits of the plan address read so far
static region *regions[MAX_PLANS];  // MAX_REGIONS for each plan; without a plan one more
static open_region open_regions[MAX_DEPTH];
static unsigned int depth;
static uint32_t turns;  // loop turns of the running mark
static range memories[MAX_MEMORIES];
static unsigned int memory_count;
static uint64_t *counts;  // by_address of the innermost region
static uint64_t *loads;   // its loads
static uint64_t total;
static uint64_t *addresses;  // by index
static uint32_t address_count;
static uint32_t *hash_table;  // index + 1, by hash of the address
static char error_text[160];

static void fail(const char *format, ...) {
  if (error_text[0] == '\0') {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error_text, sizeof error_text, format, arguments);
    va_end(arguments);
  }
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) {
    fprintf(stderr, "count plugin: out of memory\n");
    abort();
  }
  return memory;
}

// A block of code may be translated several times; an address keeps its index.
static uintptr_t index_of(uint64_t address) {
  uint32_t slot = (uint32_t)((address >> 1) * 2654435761u) % HASH_SIZE;
  while (hash_table[slot] != 0) {
    const uint32_t index = hash_table[slot] - 1;
    if (addresses[index] == address) {
      return index;
    }
    slot = (slot + 1) % HASH_SIZE;
  }
  if (address_count == MAX_ADDRESSES) {
    fprintf(stderr, "count plugin: more than %d different instructions\n", MAX_ADDRESSES);
    abort();
  }
  addresses[address_count] = address;
  hash_table[slot] = ++address_count;
  return address_count - 1;
}

static void enter(unsigned int of_plan, uint32_t number) {
  region *entered = &regions[of_plan][number];
  if (entered->by_address == NULL) {
    entered->by_address = allocate(MAX_ADDRESSES, sizeof *entered->by_address);
    entered->loads = memory_count == 0 ? NULL : allocate(MAX_ADDRESSES, sizeof *entered->loads);
  }
  counts = entered->by_address;
  loads = entered->loads;
}

static void on_instruction(unsigned int vcpu_index, void *index) {
  (void)vcpu_index;
  ++counts[(uintptr_t)index];
  ++total;
}

static void on_load(unsigned int vcpu_index, qemu_plugin_meminfo_t info, uint64_t address,
                    void *index) {
  (void)vcpu_index;
  (void)info;
  for (unsigned int i = 0; i < memory_count; ++i) {
    if (memories[i].first <= address && address <= memories[i].last) {
      ++loads[(uintptr_t)index];
    }
  }
}

static void on_turn(unsigned int vcpu_index, void *unused) {
  (void)vcpu_index;
  (void)unused;
  ++turns;
}

// Returns true if the returning mark has a valid region number.
static bool read_number(uint32_t *number) {
  *number = turns - 1;
  turns = 0;
  if (*number >= MAX_REGIONS) {
    fail("region %" PRIu32 " is not less than %d", *number, MAX_REGIONS);
    return false;
  }
  return true;
}

static void on_begin(unsigned int vcpu_index, void *unused) {
  (void)vcpu_index;
  (void)unused;
  uint32_t number;
  if (!read_number(&number)) {
    return;
  }
  if (depth == MAX_DEPTH) {
    fail("region %" PRIu32 " begins inside of %d others", number, MAX_DEPTH);
    return;
  }
  open_regions[depth++] = (open_region){.number = number, .plan = plan, .total_at_begin = total};
  enter(plan, number);
}

static void on_end(unsigned int vcpu_index, void *unused) {
  (void)vcpu_index;
  (void)unused;
  uint32_t number;
  if (!read_number(&number)) {
    return;
  }
  if (depth == 0 || open_regions[depth - 1].number != number) {
    fail("region %" PRIu32 " ends, but is not the innermost that began", number);
    return;
  }
  const open_region *const ended = &open_regions[--depth];
  plan = ended->plan;
  regions[plan][number].entries += 1;
  regions[plan][number].instructions += total - ended->total_at_begin;
  if (depth == 0) {
    enter(0, OUTSIDE);
  } else {
    enter(open_regions[depth - 1].plan, open_regions[depth - 1].number);
  }
}

static void on_plan_bit(unsigned int vcpu_index, void *unused) {
  (void)vcpu_index;
  (void)unused;
  plan_bits = plan_bits << 1 | 1;
}

static void on_plan_zero(unsigned int vcpu_index, void *unused) {
  (void)vcpu_index;
  (void)unused;
  plan_bits ^= 1;
}

static void on_plan(unsigned int vcpu_index, void *unused) {
  (void)vcpu_index;
  (void)unused;
  for (plan = 0; plan < plan_count; ++plan) {
    if (plans[plan] == plan_bits) {
      return;
    }
  }
  if (plan_count == MAX_PLANS) {
    plan = 0;
    fail("more than %d plans run", MAX_PLANS - 1);
    return;
  }
  plans[plan_count] = plan_bits;
  regions[plan_count++] = allocate(MAX_REGIONS, sizeof(region));
}

// Returns false if the instruction is not part of the function at `mark`.
static bool instrument_mark(struct qemu_plugin_insn *insn, uint64_t mark,
                            qemu_plugin_vcpu_udata_cb_t on_return) {
  const uint64_t offset = qemu_plugin_insn_vaddr(insn) - mark;
  if (offset >= MARK_SIZE) {
    return false;
  }
  if (offset == 0) {
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_turn, QEMU_PLUGIN_CB_NO_REGS, NULL);
  } else if (offset == MARK_RETURN) {
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_return, QEMU_PLUGIN_CB_NO_REGS, NULL);
  }
  return true;
}

// The same for the function that selects a plan.
static bool instrument_plan(struct qemu_plugin_insn *insn) {
  const uint64_t offset = qemu_plugin_insn_vaddr(insn) - plan_address;
  if (plan_address == 0 || offset >= PLAN_SIZE) {
    return false;
  }
  qemu_plugin_vcpu_udata_cb_t on = offset == PLAN_BIT      ? on_plan_bit
                                   : offset == PLAN_ZERO   ? on_plan_zero
                                   : offset == PLAN_RETURN ? on_plan
                                                           : NULL;
  if (on != NULL) {
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on, QEMU_PLUGIN_CB_NO_REGS, NULL);
  }
  return true;
}

static void on_translation(struct qemu_plugin_tb *tb) {
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
    if (!instrument_mark(insn, begin_address, on_begin) &&
        !instrument_mark(insn, end_address, on_end) && !instrument_plan(insn)) {
      void *const index = (void *)index_of(qemu_plugin_insn_vaddr(insn));
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_instruction, QEMU_PLUGIN_CB_NO_REGS, index);
      if (memory_count != 0) {
        qemu_plugin_register_vcpu_mem_cb(insn, on_load, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R,
                                         index);
      }
    }
  }
}

static void write_addresses(FILE *out, const char *what, const uint64_t *by_address,
                            const char *name) {
  for (uint32_t i = 0; by_address != NULL && i < address_count; ++i) {
    if (by_address[i] != 0) {
      fprintf(out, "%s %" PRIu64 " %s %" PRIu64 "\n", what, addresses[i], name, by_address[i]);
    }
  }
}

static void write_regions(FILE *out, const region *of_plan) {
  for (uint32_t number = 0; number < MAX_REGIONS; ++number) {
    const region *counted = &of_plan[number];
    if (counted->by_address != NULL) {
      char name[16];
      snprintf(name, sizeof name, "%" PRIu32, number);
      fprintf(out, "region %s %" PRIu64 " %" PRIu64 "\n", name, counted->entries,
              counted->instructions);
      write_addresses(out, "at", counted->by_address, name);
      write_addresses(out, "loads", counted->loads, name);
    }
  }
}

static void write_counts(void) {
  FILE *out = fopen(output_path, "w");
  if (out == NULL) {
    perror(output_path);
    return;
  }
  if (depth != 0) {
    fail("region %" PRIu32 " does not end", open_regions[depth - 1].number);
  }
  if (error_text[0] != '\0') {
    fprintf(out, "error %s\n", error_text);
  }
  fprintf(out, "total %" PRIu64 "\n", total);
  write_addresses(out, "at", regions[0][OUTSIDE].by_address, "-");
  write_regions(out, regions[0]);
  for (unsigned int i = 1; i < plan_count; ++i) {
    fprintf(out, "plan %" PRIu32 "\n", plans[i]);
    write_regions(out, regions[i]);
  }
  if (fclose(out) != 0) {
    perror(output_path);
  }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                                           char **argv);

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    const char *value = strchr(argv[i], '=');
    if (value == NULL) {
      value = "";
    } else {
      ++value;
    }
    if (strncmp(argv[i], "out=", 4) == 0) {
      output_path = value;
    } else if (strncmp(argv[i], "begin=", 6) == 0) {
      begin_address = strtoull(value, NULL, 16);
    } else if (strncmp(argv[i], "end=", 4) == 0) {
      end_address = strtoull(value, NULL, 16);
    } else if (strncmp(argv[i], "plan=", 5) == 0) {
      plan_address = strtoull(value, NULL, 16);
    } else if (strncmp(argv[i], "loads=", 6) == 0 && memory_count < MAX_MEMORIES) {
      char *last;
      memories[memory_count].first = strtoull(value, &last, 16);
      memories[memory_count++].last = strtoull(last + 1, NULL, 16);
    } else {
      fprintf(stderr, "count plugin: unknown argument %s\n", argv[i]);
      return -1;
    }
  }
  if (output_path == NULL) {
    fprintf(stderr, "count plugin: out=FILE is missing\n");
    return -1;
  }
  addresses = allocate(MAX_ADDRESSES, sizeof *addresses);
  hash_table = allocate(HASH_SIZE, sizeof *hash_table);
  regions[0] = allocate(MAX_REGIONS + 1, sizeof(region));
  enter(0, OUTSIDE);
  api_register(id, on_translation, write_counts);
  return 0;
}
