// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/config.h"

#include <stddef.h>

const npu_config npu_configs[NPU_CONFIG_COUNT] = {
    {0x00001005, NPU_U55, 1, 1, 1, 4, 16 * 1024},  // ethos-u55-32
    {0x00001006, NPU_U55, 1, 1, 1, 8, 16 * 1024},  // ethos-u55-64
    {0x00001807, NPU_U55, 1, 1, 2, 8, 24 * 1024},  // ethos-u55-128
    {0x00003008, NPU_U55, 1, 2, 2, 8, 48 * 1024},  // ethos-u55-256
    {0x10003008, NPU_U65, 1, 2, 2, 8, 48 * 1024},  // ethos-u65-256
    {0x10006009, NPU_U65, 2, 2, 2, 8, 48 * 1024},  // ethos-u65-512
};

const npu_config *npu_config_find(uint32_t config) {
  for (int i = 0; i < NPU_CONFIG_COUNT; ++i) {
    if (npu_configs[i].config == config) {
      return &npu_configs[i];
    }
  }
  return NULL;
}
