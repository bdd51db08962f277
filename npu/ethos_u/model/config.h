// SPDX-License-Identifier: Apache-2.0
// NPUs known to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_CONFIG_H_
#define FIRMWARE_ETHOS_U_MODEL_CONFIG_H_

#include <stdint.h>

#include "npu/ethos_u/model/products.h"

enum {
  NPU_IFM_UBLOCK_DEPTH = 8,
  NPU_LUT_BYTES = 2048,  // U55, U65: at the end of a core's SHRAM
};

typedef enum { NPU_U55 = 0, NPU_U65 = 1, NPU_U85 = 2 } npu_product;

typedef struct {
  uint32_t config;  // the CONFIG register: log2 of MACs, product << 28; U55, U65: SHRAM KB << 8
  npu_product product;
  uint8_t cores;  // with more than one, weights (U65: and scales) come in one stream for each
  // U55 and U65 only.
  uint8_t ofm_ublock_height;
  uint8_t ofm_ublock_width;
  uint8_t ofm_ublock_depth;  // per core
  uint32_t shram_bytes;      // per core
} npu_config;

// U55 and U65 come first. U85 is left out where NPU_HAS_U85 is 0.
extern const npu_config npu_configs[];

// The configuration with this CONFIG register, or null.
const npu_config *npu_config_find(uint32_t config);

#endif  // FIRMWARE_ETHOS_U_MODEL_CONFIG_H_
