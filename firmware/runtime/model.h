// SPDX-License-Identifier: Apache-2.0
//
// Runs a plan, the compiled form of a model.
//
//   static pl_model model;
//   pl_tensor input, output;
//   pl_status status = pl_model_init(&model, &digits_plan);
//   if (status == PL_OK) status = pl_model_input(&model, 0, &input);
//   if (status == PL_OK) status = pl_model_output(&model, 0, &output);
//   ... write input.spec.bytes bytes to input.data ...
//   if (status == PL_OK) status = pl_model_run(&model, &input, 1, &output, 1);
//   ... read output.data ...
//
// No function allocates memory, blocks, or keeps a pointer to a descriptor after it returns.
//
// A plan has one set of arenas, so two models on one plan must not run at the same time. The same
// holds for two models sharing an arena. Models of one program do, unless plan_library is set
// otherwise. The content of a shared arena, including inputs and outputs, is valid until the other
// model is written to or run.
//
// An interrupt's handler or a thread that tries to run a busy plan, or one that shares its arena,
// gets PL_ERROR_BUSY. A thread may wait instead: see pl_lock.
#ifndef FIRMWARE_RUNTIME_MODEL_H_
#define FIRMWARE_RUNTIME_MODEL_H_

#include <stdint.h>

#include "firmware/runtime/plan.h"
#include "kernels/common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Owned by the caller; its fields are private except error_index.
typedef struct {
  const pl_plan *plan;
  uint32_t ready;
  // After a failed pl_model_run: the index of the wrong input or output (status PL_ERROR_INPUT_… or
  // PL_ERROR_OUTPUT_…), else of the step whose kernel failed.
  uint32_t error_index;
} pl_model;

// A program with threads may define both, with a mutex of its own that one thread may take several
// times. A run, reset or initialization calls pl_lock before it takes the arena, and pl_unlock
// after it has given it back. A thread that writes inputs into the arena or reads outputs there
// takes the mutex itself around both. pl_lock has to return at once in an interrupt's handler.
// Define both in main.c: they are weak, so that the linker does not search libraries for them.
void pl_lock(void) __attribute__((weak));
void pl_unlock(void) __attribute__((weak));

// Makes `model` ready to run `plan`, with its state, if it has any, as before the first run. The
// state is the plan's: another model on the same plan shares it. PL_ERROR_NULL if one of them is
// null, PL_ERROR_BUSY if the plan is being run.
PL_MUST_USE pl_status pl_model_init(pl_model *model, const pl_plan *plan);

// Resets the model's state to its values before the first run: a new sequence begins. Has no effect
// on a model without state. PL_ERROR_NULL, PL_ERROR_NOT_READY or PL_ERROR_BUSY.
PL_MUST_USE pl_status pl_model_reset(pl_model *model);

// Compares the model's constants, above all weights, with the checksum made by the plan compiler.
// Call it at start, or before each run. It reads all of them. PL_ERROR_WEIGHTS if they differ;
// PL_ERROR_NO_CHECKSUM if the plan has none (plan_library(checksum = True)); PL_ERROR_NULL or
// PL_ERROR_NOT_READY.
PL_MUST_USE pl_status pl_model_check(const pl_model *model);

// Describes input or output `index`. tensor->data is its place in the arena, so a run with this
// descriptor copies nothing. Contents:
//   - An input must be written before every run: the run may overwrite it after its last
//     use.
//   - An output is valid until the next run or reset, or until an input is written. It
//     may also be state the next run starts from, so do not write it.
// PL_ERROR_NULL, PL_ERROR_NOT_READY, or PL_ERROR_INPUT_COUNT / PL_ERROR_OUTPUT_COUNT if there is
// none of this index.
PL_MUST_USE pl_status pl_model_input(const pl_model *model, uint32_t index, pl_tensor *tensor);
PL_MUST_USE pl_status pl_model_output(const pl_model *model, uint32_t index, pl_tensor *tensor);

// Runs one inference. Each descriptor defines the caller's tensor and the position of its data: in
// the arena (see above), or in any memory outside of the model's arenas. In the latter case the
// data are copied. Input data outside of the arenas are only read: they may be another model's
// output, in its arena. In a shared arena they may lie anywhere except in the place of another
// input.
//
// All descriptors are checked before anything is changed. After a descriptor error nothing has run,
// and the model's state is unchanged. If a kernel fails, state may be partly changed: call
// pl_model_reset.
//   PL_ERROR_NOT_READY          pl_model_init has not succeeded
//   PL_ERROR_BUSY               a run of this plan, or of one sharing its arena, has
//                               not ended
//   PL_ERROR_INPUT_COUNT        the number of descriptors is not that of the inputs
//   PL_ERROR_INPUT_NULL         no descriptors, or one without data
//   PL_ERROR_INPUT_DTYPE        … differs from the model's, and so on for LAYOUT, RANK,
//                               SHAPE
//   PL_ERROR_INPUT_SCALE        not the same float; 0 if the tensor is not quantized
//   PL_ERROR_INPUT_ZERO_POINT
//   PL_ERROR_INPUT_SIZE         `bytes` is not that of shape and dtype, or passes the
//                               last address
//   PL_ERROR_INPUT_ALIGNMENT    data are not aligned to the size of an element
//   PL_ERROR_INPUT_OVERLAP      data overlap an arena of the plan, but are not this
//                               input's place
// The same errors exist for outputs. Outputs must also not overlap the arenas of other plans, nor
// each other. Kernels may return further errors.
PL_MUST_USE pl_status pl_model_run(pl_model *model, const pl_tensor *inputs, uint32_t input_count,
                                   const pl_tensor *outputs, uint32_t output_count);

// The same for a plan with a row-streamed input (plan_library(input_rows = True)). The arena has no
// place for the whole input: pl_model_input returns no data. `read` is called for each row, in
// order, while the model runs, as a camera or a microphone delivers them. `user` is passed to it.
//
// A row is one index of the first dimension with more than one element. `read` may wait for its
// row, but not run a model sharing the arena. pl_model_run takes a whole tensor, outside of all
// arenas, and copies its rows.
//   PL_ERROR_NULL         no model, or no reader
//   PL_ERROR_INPUT_COUNT  the plan's inputs are in its arena
// The errors of pl_model_run also apply; a status of the reader ends the run.
PL_MUST_USE pl_status pl_model_run_rows(pl_model *model, pl_row_reader read, void *user,
                                        const pl_tensor *outputs, uint32_t output_count);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_RUNTIME_MODEL_H_
