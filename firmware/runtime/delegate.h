// SPDX-License-Identifier: Apache-2.0
//
// Delegates: steps of a plan running on an engine other than the CPU, such as an NPU with its
// driver. The app passes its engines when it initializes the model:
//
//   pl_engine engines[] = {ethos_u_engine(&npu, "ethos-u55-128")};
//   pl_status status = pl_model_init_with_engines(&model, &plan, engines, 1);
//   ... pl_model_run as ever; if it gives PL_ERROR_DELEGATE_...:
//   pl_print(engines[0].text);
//
// If an engine supports it, the app works while the engine does: split.h.
//
// Programs whose plans have no delegates contain nothing of this.
#ifndef FIRMWARE_RUNTIME_DELEGATE_H_
#define FIRMWARE_RUNTIME_DELEGATE_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/runtime/model.h"
#include "firmware/runtime/plan.h"
#include "kernels/common/status.h"
#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pl_engine pl_engine;

// A plan's record of the app's engines: 0 before any are passed; private.
typedef struct {
  pl_engine *engines;
  uint32_t count;
} pl_engines;

typedef struct {
  const void *data;
  uint32_t bytes;
} pl_delegate_input;

typedef struct {
  void *data;
  uint32_t bytes;
} pl_delegate_output;

// One call of a delegate, the `data` of its step. Payload, scratch memory, inputs and outputs have
// the payload's alignment, and lie in memories the board's engine reaches.
typedef struct {
  const char *backend;        // maker of the payload: "EthosUBackend"
  const char *configuration;  // of the target engine: "ethos-u55-128"; "" for any
  const void *payload;        // in the backend's own format
  uint32_t payload_bytes;
  const pl_delegate_input *inputs;
  const pl_delegate_output *outputs;
  uint32_t input_count;
  uint32_t output_count;
  pl_engines *engines;  // private
} pl_delegate_data;

// An engine, owned by the app. It must stay where it is as long as the model is run.
struct pl_engine {
  const char *backend;        // maker of the payloads it runs
  const char *configuration;  // its own; "" takes payloads for any
  // Runs a delegate to its end. PL_OK; PL_ERROR_DELEGATE_PAYLOAD if the payload is not the
  // engine's, or does not match the buffers; PL_ERROR_DELEGATE_RUN if the engine fails; or
  // PL_ERROR_SCRATCH_SIZE. A run after a failed one must work.
  pl_status (*run)(pl_engine *engine, const pl_context *context, const pl_delegate_data *delegate);
  // The same in parts, for split.h; null if an engine does not support it. `start` returns when the
  // engine has begun. If it returned PL_OK, `finish` with the same arguments waits for the end.
  // `has_ended` returns true if `finish` would return at once.
  pl_status (*start)(pl_engine *engine, const pl_context *context,
                     const pl_delegate_data *delegate);
  bool (*has_ended)(pl_engine *engine);
  pl_status (*finish)(pl_engine *engine, const pl_context *context,
                      const pl_delegate_data *delegate);
  void *handle;  // the engine's own
  // Result of the last run: the engine's own error number, and a text for people; 0 and "" if there
  // was no error. `run`, `start` and `finish` set them.
  int32_t code;
  const char *text;
};

// pl_model_init for a plan with delegates. All models on one plan share the engines passed last;
// pl_model_init itself does not change them. PL_ERROR_NULL; PL_ERROR_BUSY if the plan is running.
// PL_ERROR_DELEGATE_ENGINE if one of the plan's delegates has no engine; model->error_index is then
// the step's index.
PL_MUST_USE pl_status pl_model_init_with_engines(pl_model *model, const pl_plan *plan,
                                                 pl_engine *engines, uint32_t count);

// Runs the step of a delegate on its engine. PL_ERROR_DELEGATE_ENGINE if the app passed none for
// it; else the engine's status.
PL_MUST_USE pl_status pl_delegate_step(const pl_context *context, const pl_step *step);

// The engine for a step: null if it is no delegate's, or the app handed in none for it.
pl_engine *pl_delegate_engine(const pl_step *step);

// Name of any status, including those of delegates, which pl_status_name leaves out; never null.
const char *pl_delegate_status_name(pl_status status);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_RUNTIME_DELEGATE_H_
