// SPDX-License-Identifier: Apache-2.0
// What a function of the device library reports.
#ifndef KERNELS_COMMON_STATUS_H_
#define KERNELS_COMMON_STATUS_H_

#ifdef __cplusplus
extern "C" {
#endif

// PL_OK is 0; every other value names what was wrong. An INPUT or OUTPUT status is about a
// descriptor that the caller passed to a model.
typedef enum {
  PL_OK = 0,
  PL_ERROR_NULL,          // a pointer that must not be null
  PL_ERROR_SCRATCH_SIZE,  // the context has less scratch memory than the kernel needs
  PL_ERROR_NOT_READY,     // a model that was not initialised
  PL_ERROR_BUSY,          // another run has not ended that the model's arena is in use by
  PL_ERROR_WEIGHTS,       // a constant of the model is not what it was
  PL_ERROR_NO_CHECKSUM,   // the plan has none of its constants
  PL_ERROR_INDEX,         // an index, which is data, is outside of its table
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
  // A step that an engine runs; pl_delegate_status_name names these (firmware/runtime/delegate.h).
  PL_ERROR_DELEGATE_ENGINE,   // the app handed in no engine for it
  PL_ERROR_DELEGATE_PAYLOAD,  // the engine does not take what was made for it
  PL_ERROR_DELEGATE_RUN,      // the engine failed
} pl_status;

#define PL_MUST_USE __attribute__((warn_unused_result))

// The status's own name, such as "PL_ERROR_INPUT_SHAPE"; never null. Those of delegates are not
// among them: programs without delegates contain nothing of theirs.
const char *pl_status_name(pl_status status);

#ifdef __cplusplus
}
#endif

#endif  // KERNELS_COMMON_STATUS_H_
