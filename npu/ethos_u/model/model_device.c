// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/model_device.h"

#include <string.h>

// The core executes the NPU's work here, instead of doing something else.
static ethos_u_status start(ethos_u_device *device, const ethos_u_stream *stream,
                            const ethos_u_region *regions) {
  ethos_u_model_device *model = (ethos_u_model_device *)(void *)device;
  return ethos_u_model_run(stream, regions, model->workspace, model->workspace_bytes,
                           &model->options, &model->summary, &model->error);
}

static bool has_ended(ethos_u_device *device) {
  (void)device;
  return true;
}

static ethos_u_status finish(ethos_u_device *device) {
  (void)device;
  return ETHOS_U_OK;
}

void ethos_u_model_device_init(ethos_u_model_device *model, uint8_t *workspace,
                               uint64_t workspace_bytes, const ethos_u_model_options *options) {
  memset(model, 0, sizeof(*model));
  model->device.start = start;
  model->device.has_ended = has_ended;
  model->device.finish = finish;
  model->workspace = workspace;
  model->workspace_bytes = workspace_bytes;
  if (options != NULL) {
    model->options = *options;
  }
}
