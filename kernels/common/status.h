// SPDX-License-Identifier: Apache-2.0
// Status of a function of the device library.
#ifndef KERNELS_COMMON_STATUS_H_
#define KERNELS_COMMON_STATUS_H_

#ifdef __cplusplus
extern "C" {
#endif

// PL_OK is 0; every other value is an error. An INPUT or OUTPUT status is about a descriptor the
// caller passed to a model.
typedef enum {
  PL_OK = 0,
  PL_ERROR_NULL,          // a pointer that must not be null
  PL_ERROR_SCRATCH_SIZE,  // the context has less scratch memory than the kernel needs
  PL_ERROR_NOT_READY,     // an uninitialised model
  PL_ERROR_BUSY,          // another run using the model's arena has not ended
  PL_ERROR_WEIGHTS,       // a constant of the model has changed
  PL_ERROR_NO_CHECKSUM,   // the plan has none of its constants
  PL_ERROR_INDEX,         // an index in the data is outside of its table
  PL_ERROR_INPUT_COUNT,
  PL_ERROR_INPUT_NULL,
  PL_ERROR_INPUT_DTYPE,
  PL_ERROR_INPUT_RANK,
  PL_ERROR_INPUT_SHAPE,
  PL_ERROR_INPUT_LAYOUT,
  PL_ERROR_INPUT_SCALE,
  PL_ERROR_INPUT_ZERO_POINT,
  PL_ERROR_INPUT_SIZE,
  PL_ERROR_INPUT_ALIGNMENT,
  PL_ERROR_INPUT_OVERLAP,
  PL_ERROR_OUTPUT_COUNT,
  PL_ERROR_OUTPUT_NULL,
  PL_ERROR_OUTPUT_DTYPE,
  PL_ERROR_OUTPUT_RANK,
  PL_ERROR_OUTPUT_SHAPE,
  PL_ERROR_OUTPUT_LAYOUT,
  PL_ERROR_OUTPUT_SCALE,
  PL_ERROR_OUTPUT_ZERO_POINT,
  PL_ERROR_OUTPUT_SIZE,
  PL_ERROR_OUTPUT_ALIGNMENT,
  PL_ERROR_OUTPUT_OVERLAP,
  // Errors of a step on an engine; pl_delegate_status_name returns their names
  // (firmware/runtime/delegate.h).
  PL_ERROR_DELEGATE_ENGINE,   // the app handed in no engine for it
  PL_ERROR_DELEGATE_PAYLOAD,  // the engine does not accept its payload
  PL_ERROR_DELEGATE_RUN,      // the engine failed
} pl_status;

#define PL_MUST_USE __attribute__((warn_unused_result))

// Returns the status's own name, such as "PL_ERROR_INPUT_SHAPE"; never null. Statuses of delegates
// are excluded, so programs without delegates do not link their names.
const char *pl_status_name(pl_status status);

#ifdef __cplusplus
}
#endif

#endif  // KERNELS_COMMON_STATUS_H_
