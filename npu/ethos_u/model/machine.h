// SPDX-License-Identifier: Apache-2.0
// State of the NPU while a command stream runs: registers, LUT memory, regions, the first error.
// Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_MACHINE_H_
#define FIRMWARE_ETHOS_U_MODEL_MACHINE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "npu/ethos_u/model/commands.h"
#include "npu/ethos_u/model/config.h"
#include "npu/ethos_u/model/model.h"
#include "npu/ethos_u/payload.h"
#include "npu/ethos_u/status.h"

enum {
  // Registers of cmd0 are opcodes 256 to 399, those of cmd1 0 to 151.
  NPU_CMD0_FIRST = 0x100,
  NPU_CMD0_COUNT = 144,
  NPU_CMD1_COUNT = 152,
  NPU_REGISTER_COUNT = NPU_CMD0_COUNT + NPU_CMD1_COUNT,
  NPU_LUT_SLOT_BYTES = 256,
  NPU_MAX_ACCESSES = 20,
  NPU_MAX_OUTSTANDING = 4,
};

// A range of bytes accessed by an operation.
typedef struct {
  uint64_t begin;
  uint64_t end;
  uint8_t region;  // or NPU_LUT_REGION
  bool write;
} npu_access;

enum { NPU_LUT_REGION = ETHOS_U_REGION_COUNT };

typedef struct {
  npu_access accesses[NPU_MAX_ACCESSES];
  uint32_t count;
} npu_access_list;

// Operations started but not yet waited for, oldest first.
typedef struct {
  npu_access_list operations[NPU_MAX_OUTSTANDING];
  uint32_t count;
} npu_queue;

enum { NPU_CHAIN_BUFFERS = 8 };

// Values that U85 passes from one operation to the next without memory. Buffer 0 has accumulators
// (64 bits), buffer 1 + n has chained storage n (32 bits).
typedef struct {
  uint64_t sizes[1 + NPU_CHAIN_BUFFERS];     // bytes, the most that an operation needs
  uint8_t *data[1 + NPU_CHAIN_BUFFERS];      // null while inspecting
  uint32_t elements[1 + NPU_CHAIN_BUFFERS];  // in the last operation that wrote it, else 0
} npu_kept;

typedef struct {
  const npu_config *config;
  const ethos_u_region *regions;  // null while inspecting: then every access is within
  ethos_u_model_options options;
  ethos_u_model_summary *summary;
  ethos_u_model_operation operation;  // the current one
  ethos_u_error error;                // the first one
  uint16_t parameters[NPU_REGISTER_COUNT];
  uint32_t payloads[NPU_CMD1_COUNT];
  uint8_t written[(NPU_REGISTER_COUNT + 7) / 8];
  uint8_t lut_written;      // one bit a slot
  npu_access_list current;  // current operation
  npu_queue kernels;
  npu_queue transfers;
  npu_kept kept;
  uint8_t *buffers;  // the workspace after this structure and `kept`, null while inspecting
  uint64_t buffers_size;
  uint8_t lut[NPU_LUT_BYTES];
} npu_machine;

// Records the first error of a stream. Returns false, for `return npu_fail(...)`.
bool npu_fail(npu_machine *machine, ethos_u_status status, uint32_t field, const char *detail,
              int64_t value);

// A register's parameter (cmd0) or payload (cmd1). Reading an unwritten register is an error and
// gives 0.
uint32_t npu_register(npu_machine *machine, uint32_t key);
uint32_t npu_register_parameter(npu_machine *machine, uint32_t key);

// 40-bit cmd1 registers: an address, a length or a signed stride.
uint64_t npu_register_address(npu_machine *machine, uint32_t key);
int64_t npu_register_stride(npu_machine *machine, uint32_t key);

// Stores a SET command.
void npu_register_write(npu_machine *machine, uint32_t key, uint32_t parameter, uint32_t payload);

// Declares a read or write of bytes [begin, end) of a region by the current operation. Checks them
// against the region and keeps them for the hazard check. `field` is the register with the region.
// Returns the region's first byte, or null while inspecting or on error.
uint8_t *npu_access_region(npu_machine *machine, uint32_t field, uint32_t region, bool write,
                           int64_t begin, int64_t end);

// The same for the LUT memory, relative to its start.
void npu_access_lut(npu_machine *machine, bool write, uint32_t begin, uint32_t end);

// Counts bytes read from or written to a region by the current operation.
void npu_count_bytes(npu_machine *machine, uint32_t region, bool write, uint64_t bytes);

// Takes the workspace after the machine for buffers of the current operation. Returns null while
// inspecting. Returns null with an error if the workspace is too small.
uint8_t *npu_take_buffers(npu_machine *machine, uint64_t bytes);

static inline bool npu_ok(const npu_machine *machine) {
  return machine->error.status == ETHOS_U_OK;
}

#endif  // FIRMWARE_ETHOS_U_MODEL_MACHINE_H_
