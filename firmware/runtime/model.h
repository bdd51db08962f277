// SPDX-License-Identifier: Apache-2.0
//
// Runs a model that the plan compiler turned into a plan.
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
// No function allocates memory, blocks, or keeps a pointer to a descriptor after it returns. A plan
// has one set of arenas, so two models on one plan must not run at the same time; nor two models
// that share an arena, as those of a program do if plan_library does not say otherwise: what is in
// it, inputs and outputs too, lasts until the other one is written to or run. An interrupt's
// handler or a thread that tries gets PL_ERROR_BUSY (threads on Armv6-M must see to it themselves).
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
  // After a failed pl_model_run: the index of the input or output that was wrong (status
  // PL_ERROR_INPUT_… or PL_ERROR_OUTPUT_…), else of the step whose kernel failed.
  uint32_t error_index;
} pl_model;

// Makes `model` ready to run `plan`, with its state, if it has any, as before the first run. The
// state is the plan's: another model on the same plan shares it. PL_ERROR_NULL if one of them is
// null, PL_ERROR_BUSY if the plan is being run.
PL_MUST_USE pl_status pl_model_init(pl_model *model, const pl_plan *plan);

// Makes the state of the model what it is before the first run: a new sequence begins. Nothing to
// do for a model without state. PL_ERROR_NULL, PL_ERROR_NOT_READY or PL_ERROR_BUSY.
PL_MUST_USE pl_status pl_model_reset(pl_model *model);

// Compares the constants of the model, weights above all, with the checksum that the plan compiler
// made: at start, or before each run. It reads all of them. PL_ERROR_WEIGHTS if they differ;
// PL_ERROR_NO_CHECKSUM if the plan has none (plan_library(checksum = True)); PL_ERROR_NULL or
// PL_ERROR_NOT_READY.
PL_MUST_USE pl_status pl_model_check(const pl_model *model);

// Describes input or output `index`; tensor->data is its place in the arena, so that running with
// this descriptor copies nothing. Contents:
//   - An input must be written before every run: the run may overwrite it after its last use.
//   - An output is valid until the next run or reset, or until an input is written. It may be state
//     as well, which the next run starts from: it is not to be written.
// PL_ERROR_NULL, PL_ERROR_NOT_READY, or PL_ERROR_INPUT_COUNT / PL_ERROR_OUTPUT_COUNT if there is
// none of this index.
PL_MUST_USE pl_status pl_model_input(const pl_model *model, uint32_t index, pl_tensor *tensor);
PL_MUST_USE pl_status pl_model_output(const pl_model *model, uint32_t index, pl_tensor *tensor);

// One inference. Each descriptor says what the caller's tensor is and where its data are: in the
// arena (see above), or in any memory outside of the model's arenas, from or to which they are
// copied. Input data outside of the arenas are only read: they may be another model's output, in
// its arena. In an arena that models share they may lie anywhere but in the place of another input.
//
// All descriptors are checked before anything is touched; on an error of theirs nothing has run,
// and the model's state is what it was. Where a kernel fails, state may be half changed:
// pl_model_reset.
//   PL_ERROR_NOT_READY          pl_model_init has not succeeded
//   PL_ERROR_BUSY               a run of this plan, or of one that shares its arena, has not ended
//   PL_ERROR_INPUT_COUNT        not as many descriptors as the model has inputs
//   PL_ERROR_INPUT_NULL         no descriptors, or one without data
//   PL_ERROR_INPUT_DTYPE        … differs from the model's, and so on for LAYOUT, RANK, SHAPE
//   PL_ERROR_INPUT_SCALE        not the same float; 0 where the tensor is not quantized
//   PL_ERROR_INPUT_ZERO_POINT
//   PL_ERROR_INPUT_SIZE         `bytes` is not that of shape and dtype, or passes the last address
//   PL_ERROR_INPUT_ALIGNMENT    data are not aligned to the size of an element
//   PL_ERROR_INPUT_OVERLAP      data touch an arena of the plan, but are not this input's place
// and the same for outputs, which must not touch the arenas of other plans, nor each other, either;
// then whatever a kernel reports.
PL_MUST_USE pl_status pl_model_run(pl_model *model, const pl_tensor *inputs, uint32_t input_count,
                                   const pl_tensor *outputs, uint32_t output_count);

// The same for a plan whose input comes row by row (plan_library(input_rows = True)), which then
// has no place for all of it: pl_model_input gives no data. `read` is called for each row while the
// model runs, as a camera or a microphone delivers them, in order; `user` is handed on to it. A row
// is what one index of the first dimension of more than one element has. It may wait for its row,
// but not run a model that shares the arena. pl_model_run takes a whole tensor, outside of all
// arenas, and copies its rows.
//   PL_ERROR_NULL         no model, or no reader
//   PL_ERROR_INPUT_COUNT  the plan's inputs are in its arena
// and those of pl_model_run; a status of the reader ends the run.
PL_MUST_USE pl_status pl_model_run_rows(pl_model *model, pl_row_reader read, void *user,
                                        const pl_tensor *outputs, uint32_t output_count);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_RUNTIME_MODEL_H_
