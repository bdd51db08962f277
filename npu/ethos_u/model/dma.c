// SPDX-License-Identifier: Apache-2.0
// OP_DMA_START: transfers between regions, and from a region to the LUT memory.
#include <string.h>

#include "npu/ethos_u/model/cycles.h"
#include "npu/ethos_u/model/operations.h"

bool npu_run_dma(npu_machine *machine) {
  const uint32_t source_region = npu_register(machine, NPU_SET_DMA0_SRC_REGION);
  const uint32_t target_region = npu_register(machine, NPU_SET_DMA0_DST_REGION);
  const uint64_t source = npu_register_address(machine, NPU_SET_DMA0_SRC);
  const uint64_t target = npu_register_address(machine, NPU_SET_DMA0_DST);
  const uint64_t length = npu_register_address(machine, NPU_SET_DMA0_LEN);
  if (!npu_ok(machine)) {
    return false;
  }
  if ((source_region >> 9 & 3) != 0 || (target_region >> 9 & 3) != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_DMA0_DST_REGION, "stride_mode",
                    target_region >> 9 & 3);
  }
  if ((source_region >> 8 & 1) != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_DMA0_SRC_REGION,
                    "region_mode, reading internal memory", 1);
  }
  if (length == 0 || length > INT32_MAX) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_DMA0_LEN, "bytes", (int64_t)length);
  }
  const uint8_t *from = npu_access_region(machine, NPU_SET_DMA0_SRC_REGION, source_region & 7,
                                          false, (int64_t)source, (int64_t)(source + length));
  npu_count_bytes(machine, source_region & 7, false, length);
  uint8_t *to;
  if ((target_region >> 8 & 1) != 0) {
    const uint64_t lut = machine->config->shram_bytes - NPU_LUT_BYTES;
    if (target < lut || target + length > machine->config->shram_bytes ||
        (target - lut) % NPU_LUT_SLOT_BYTES != 0 || length % NPU_LUT_SLOT_BYTES != 0) {
      return npu_fail(machine, ETHOS_U_ERROR_ADDRESS, NPU_SET_DMA0_DST,
                      "internal address, not in whole slots of the LUT memory", (int64_t)target);
    }
    const uint32_t first = (uint32_t)(target - lut) / NPU_LUT_SLOT_BYTES;
    const uint32_t slots = (uint32_t)length / NPU_LUT_SLOT_BYTES;
    npu_access_lut(machine, true, (uint32_t)(target - lut), (uint32_t)(target - lut + length));
    machine->lut_written = (uint8_t)(machine->lut_written | ((1u << slots) - 1) << first);
    to = machine->lut + (target - lut);
  } else {
    to = npu_access_region(machine, NPU_SET_DMA0_DST_REGION, target_region & 7, true,
                           (int64_t)target, (int64_t)(target + length));
    npu_count_bytes(machine, target_region & 7, true, length);
    to = to == NULL ? NULL : to + target;
  }
  npu_estimate_transfer(machine, source_region & 7, target_region & 7,
                        (target_region >> 8 & 1) != 0, length);
  if (from != NULL && to != NULL) {
    memmove(to, from + source, (size_t)length);
  }
  return npu_ok(machine);
}
