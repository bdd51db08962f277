// SPDX-License-Identifier: Apache-2.0
// Status codes of the Ethos-U driver and the NPU model.
#ifndef FIRMWARE_ETHOS_U_STATUS_H_
#define FIRMWARE_ETHOS_U_STATUS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  ETHOS_U_OK = 0,
  // Arguments and payload.
  ETHOS_U_ERROR_NULL,          // a pointer that must not be null
  ETHOS_U_ERROR_ALIGNMENT,     // payload, scratch or workspace not aligned to 16 bytes, or scratch
                               // sharing cache lines with other data
  ETHOS_U_ERROR_PAYLOAD,       // truncated, corrupt or foreign container
  ETHOS_U_ERROR_SCRATCH_SIZE,  // less scratch than the payload needs
  ETHOS_U_ERROR_WORKSPACE,     // less model workspace than the stream needs
  ETHOS_U_ERROR_CONFIG,        // compiled for another NPU
  ETHOS_U_ERROR_BUSY,          // a run of someone else has not ended
  ETHOS_U_ERROR_NOT_STARTED,   // there is no run to wait for
  // The command stream, as the model sees it.
  ETHOS_U_ERROR_STREAM_END,     // the stream ends inside a command or before OP_STOP
  ETHOS_U_ERROR_COMMAND,        // no such command
  ETHOS_U_ERROR_FIELD,          // a reserved bit, or a value invalid for every NPU
  ETHOS_U_ERROR_NOT_SET,        // a register or LUT used before it was written
  ETHOS_U_ERROR_UNSUPPORTED,    // a defined value with undocumented arithmetic
  ETHOS_U_ERROR_ADDRESS,        // an access outside of its region
  ETHOS_U_ERROR_READ_ONLY,      // a write to a region of constants
  ETHOS_U_ERROR_WEIGHT_STREAM,  // a truncated or corrupt weight stream
  ETHOS_U_ERROR_OVERFLOW,       // an intermediate beyond the accumulator's width
  ETHOS_U_ERROR_HAZARD,         // a wait is missing between transfer and kernel
  // The device, as the driver sees it.
  ETHOS_U_ERROR_NO_NPU,    // no answer, or not an Ethos-U55/U65
  ETHOS_U_ERROR_RESET,     // the reset does not finish
  ETHOS_U_ERROR_SECURITY,  // the NPU is not in the requested security or privilege state
  ETHOS_U_ERROR_BUS,       // bus error while running
  ETHOS_U_ERROR_PARSE,     // the NPU could not parse a command
  ETHOS_U_ERROR_WATCHDOG,  // the NPU's weight decoder watchdog
  ETHOS_U_ERROR_ECC,       // uncorrectable memory error inside the NPU
  ETHOS_U_ERROR_TIMEOUT,   // no end within the board's time limit
  ETHOS_U_STATUS_COUNT,
} ethos_u_status;

#define ETHOS_U_MUST_USE __attribute__((warn_unused_result))

// Position of an error in a command stream. `opcode` and `field` are the low halves of command
// words (see model/commands.h): the operation being decoded and the register at fault. `field` is
// ETHOS_U_NO_FIELD if no register is at fault.
#define ETHOS_U_NO_FIELD 0xFFFFu

typedef struct {
  ethos_u_status status;
  uint32_t command;  // index of the command in the stream, from 0
  uint32_t offset;   // offset of its first word in the stream, in words
  uint16_t opcode;
  uint16_t field;
  const char *detail;  // the part of the register, or the kind of value; may be null
  int64_t value;
} ethos_u_error;

// The status's own name, such as "ETHOS_U_ERROR_BUS"; never null.
const char *ethos_u_status_name(ethos_u_status status);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_ETHOS_U_STATUS_H_
