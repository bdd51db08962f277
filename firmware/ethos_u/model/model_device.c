// SPDX-License-Identifier: Apache-2.0
#include "firmware/ethos_u/model/model_device.h"

#include <string.h>

static ethos_u_status execute(ethos_u_device *device, const ethos_u_stream *stream,
                              const ethos_u_region *regions) {
  ethos_u_model_device *model = (ethos_u_model_device *)(void *)device;
  return ethos_u_model_run(stream, regions, model->workspace, model->workspace_bytes,
                           &model->options, &model->summary, &model->error);
}

void ethos_u_model_device_init(ethos_u_model_device *model, uint8_t *workspace,
                               uint64_t workspace_bytes, const ethos_u_model_options *options) {
  memset(model, 0, sizeof(*model));
  model->device.execute = execute;
  model->workspace = workspace;
  model->workspace_bytes = workspace_bytes;
  if (options != NULL) {
    model->options = *options;
  }
}
