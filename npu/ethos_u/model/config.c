// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/config.h"

#include <stddef.h>

const npu_config npu_configs[] = {
    {0x00001005, NPU_U55, 1, 1, 1, 4, 16 * 1024},  // ethos-u55-32
    {0x00001006, NPU_U55, 1, 1, 1, 8, 16 * 1024},  // ethos-u55-64
    {0x00001807, NPU_U55, 1, 1, 2, 8, 24 * 1024},  // ethos-u55-128
    {0x00003008, NPU_U55, 1, 2, 2, 8, 48 * 1024},  // ethos-u55-256
    {0x10003008, NPU_U65, 1, 2, 2, 8, 48 * 1024},  // ethos-u65-256
    {0x10006009, NPU_U65, 2, 2, 2, 8, 48 * 1024},  // ethos-u65-512
#if NPU_HAS_U85
    {0x20000117, NPU_U85, 1, 0, 0, 0, 0},  // ethos-u85-128
    {0x20000118, NPU_U85, 1, 0, 0, 0, 0},  // ethos-u85-256
    {0x20001119, NPU_U85, 2, 0, 0, 0, 0},  // ethos-u85-512
    {0x2000251A, NPU_U85, 4, 0, 0, 0, 0},  // ethos-u85-1024
    {0x2000261B, NPU_U85, 4, 0, 0, 0, 0},  // ethos-u85-2048
#endif
};

const npu_config *npu_config_find(uint32_t config) {
  for (size_t i = 0; i < sizeof(npu_configs) / sizeof(npu_configs[0]); ++i) {
    if (npu_configs[i].config == config) {
      return &npu_configs[i];
    }
  }
  return NULL;
}
