// SPDX-License-Identifier: Apache-2.0
#include "firmware/apps/npu.h"

#include "boards/common/print.h"
#include "firmware/ethos_u/this_npu.h"
#include "firmware/runtime/delegate.h"

static ethos_u_this_npu npu;
static pl_engine engine;         // engine for the plan
static pl_engine silent_engine;  // engine of the NPU

static void print_failure(const char *text) {
  pl_print("NPU: ");
  pl_print(text);
  pl_print("\n");
}

static pl_status run(pl_engine *given, const pl_context *context,
                     const pl_delegate_data *delegate) {
  const pl_status status = silent_engine.run(given, context, delegate);
  if (status != PL_OK) {
    print_failure(given->text);
  }
  return status;
}

void pl_app_init_with_npu(pl_app *app, const pl_vectors *vectors) {
  const ethos_u_status status = ethos_u_open_this_npu(&npu, &silent_engine);
  if (status != ETHOS_U_OK) {
    print_failure(ethos_u_status_name(status));
    pl_app_end(false, "the board's NPU is not there");
  }
  engine = silent_engine;
  engine.run = run;
  *app = (pl_app){.vectors = vectors};
  if (pl_model_init_with_engines(&app->model, vectors->plan, &engine, 1) != PL_OK) {
    pl_app_end(false, "the model does not start on the board's NPU");
  }
}
