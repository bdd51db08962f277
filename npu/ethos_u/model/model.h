// SPDX-License-Identifier: Apache-2.0
// Functional model of Ethos-U55, U65 and, on a host or a board that has one, U85: executes a
// command stream, bit for bit, and counts its work. No heap, no state between calls; the only
// memory is the caller's workspace.
//
// Operations run in order, one after the other. The arithmetic comes from public sources.
// Undocumented arithmetic (hardware tanh and sigmoid, truncating scaling, accumulator overflow) is
// refused with an error, never guessed.
#ifndef FIRMWARE_ETHOS_U_MODEL_MODEL_H_
#define FIRMWARE_ETHOS_U_MODEL_MODEL_H_

#include <stdbool.h>
#include <stdint.h>

#include "npu/ethos_u/device.h"
#include "npu/ethos_u/payload.h"
#include "npu/ethos_u/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  // Workspace needed by any stream; ethos_u_model_inspect needs no more.
  ETHOS_U_MODEL_STATE_BYTES = 8 * 1024,
};

typedef struct {
  uint64_t cycles;                      // an estimate, see cycles.h; 0 for U85
  uint64_t macs;                        // without padding
  uint64_t read[ETHOS_U_REGION_COUNT];  // bytes
  uint64_t written[ETHOS_U_REGION_COUNT];
} ethos_u_model_counts;

// One executed operation, for an observer. Shapes are height, width, depth; 0 for transfers.
typedef struct {
  uint32_t command;  // index in the stream
  uint32_t offset;   // in words
  uint16_t opcode;   // low half of the command word
  uint16_t mode;     // pooling or elementwise mode
  uint32_t ifm_shape[3];
  uint32_t ofm_shape[3];
  ethos_u_model_counts counts;
} ethos_u_model_operation;

typedef void (*ethos_u_model_observer)(void *context, const ethos_u_model_operation *operation);

// Speed of a region's memory, for the estimate of cycles.
typedef struct {
  uint16_t bandwidth;    // sixteenths of a byte a cycle
  uint16_t latency;      // cycles
  uint16_t burst_bytes;  // at most
} ethos_u_model_memory;

typedef struct {
  const ethos_u_model_memory *memories;  // by region; null for constants in slow memory, else SRAM
  bool check_hazards;                    // report missing waits between transfers and kernels
  ethos_u_model_observer observer;       // called after each operation; may be null
  void *observer_context;
} ethos_u_model_options;

typedef struct {
  uint32_t commands;
  uint32_t operations;
  uint64_t workspace_bytes;                     // needed by ethos_u_model_run
  uint64_t region_bytes[ETHOS_U_REGION_COUNT];  // end of the highest access to each region
  ethos_u_model_counts counts;
} ethos_u_model_summary;

// Decodes the whole stream without executing it. Checks every command, and reports the needs and
// counts of a run. `workspace` has at least ETHOS_U_MODEL_STATE_BYTES, aligned to 16; `options` may
// be null. On error, `error` has the position.
ETHOS_U_MUST_USE ethos_u_status ethos_u_model_inspect(const ethos_u_stream *stream, void *workspace,
                                                      uint64_t workspace_bytes,
                                                      const ethos_u_model_options *options,
                                                      ethos_u_model_summary *summary,
                                                      ethos_u_error *error);

// Executes the stream on `regions` (ETHOS_U_REGION_COUNT of them; an absent region has size 0).
// `workspace` has the bytes reported by ethos_u_model_inspect. After an error the contents of
// writable regions are unspecified; nothing else was touched.
ETHOS_U_MUST_USE ethos_u_status ethos_u_model_run(const ethos_u_stream *stream,
                                                  const ethos_u_region *regions, void *workspace,
                                                  uint64_t workspace_bytes,
                                                  const ethos_u_model_options *options,
                                                  ethos_u_model_summary *summary,
                                                  ethos_u_error *error);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_MODEL_MODEL_H_
