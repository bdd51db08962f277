// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/window.h"

#include <string.h>

enum { MAX_KERNEL = 256 * 256 };  // elements

// Elements of a kernel of `dilated` extent.
static int32_t kernel_elements(npu_machine *machine, uint32_t key, int32_t dilated,
                               int32_t dilation) {
  if ((dilated - 1) % dilation != 0) {
    (void)npu_fail(machine, ETHOS_U_ERROR_FIELD, key, "extent of a dilated kernel", dilated);
  }
  return (dilated - 1) / dilation + 1;
}

bool npu_window_decode(npu_machine *machine, int32_t ofm_height, int32_t ofm_width,
                       npu_window *window, npu_feature_map *ifm) {
  const uint32_t stride = npu_register(machine, NPU_SET_KERNEL_STRIDE);
  const int32_t dilated_height = (int32_t)npu_register(machine, NPU_SET_KERNEL_HEIGHT_M1) + 1;
  const int32_t dilated_width = (int32_t)npu_register(machine, NPU_SET_KERNEL_WIDTH_M1) + 1;
  const uint32_t upscale = npu_register(machine, NPU_SET_IFM_UPSCALE);
  const int32_t pad_bottom = (int32_t)npu_register(machine, NPU_SET_IFM_PAD_BOTTOM);
  const int32_t pad_right = (int32_t)npu_register(machine, NPU_SET_IFM_PAD_RIGHT);
  window->pad_top = (int32_t)npu_register(machine, NPU_SET_IFM_PAD_TOP);
  window->pad_left = (int32_t)npu_register(machine, NPU_SET_IFM_PAD_LEFT);
  window->padded = (window->pad_top | window->pad_left | pad_bottom | pad_right) != 0;
  window->stride_x = (int32_t)((stride & 1) | (stride >> 6 & 1) << 1) + 1;
  window->stride_y = (int32_t)((stride >> 1 & 1) | (stride >> 9 & 1) << 1) + 1;
  window->dilation_x = (int32_t)(stride >> 3 & 1) + 1;
  window->dilation_y = (int32_t)(stride >> 4 & 1) + 1;
  window->kernel_height =
      kernel_elements(machine, NPU_SET_KERNEL_HEIGHT_M1, dilated_height, window->dilation_y);
  window->kernel_width =
      kernel_elements(machine, NPU_SET_KERNEL_WIDTH_M1, dilated_width, window->dilation_x);
  window->padded_height = (ofm_height - 1) * window->stride_y + dilated_height;
  window->padded_width = (ofm_width - 1) * window->stride_x + dilated_width;
  window->height = window->padded_height - window->pad_top - pad_bottom;
  window->width = window->padded_width - window->pad_left - pad_right;
  window->upscale = (npu_upscale)upscale;
  if (upscale > NPU_UPSCALE_ZEROS) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_IFM_UPSCALE, "mode", upscale);
  }
  if ((int64_t)window->kernel_height * window->kernel_width > MAX_KERNEL) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_KERNEL_HEIGHT_M1, "kernel elements",
                    (int64_t)window->kernel_height * window->kernel_width);
  }
  if (window->height < 1 || window->width < 1) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_IFM_PAD_BOTTOM,
                    "IFM rows left by the padding", window->height);
  }
  const int32_t scale = upscale == NPU_UPSCALE_NONE ? 1 : 2;
  const int32_t depth = (int32_t)npu_register(machine, NPU_SET_IFM_DEPTH_M1) + 1;
  return npu_feature_map_decode(machine, NPU_IFM, (window->height + scale - 1) / scale,
                                (window->width + scale - 1) / scale, depth, ifm);
}

void npu_window_load_row(const npu_window *window, const npu_feature_map *ifm, int32_t y, int32_t c,
                         int32_t nc, int16_t *row) {
  const size_t column = (size_t)nc * sizeof(row[0]);
  const int32_t inner_y = y - window->pad_top;
  const bool inserted = window->upscale == NPU_UPSCALE_ZEROS && inner_y % 2 != 0;
  if (inner_y < 0 || inner_y >= window->height || inserted) {
    memset(row, 0, (size_t)window->padded_width * column);
    return;
  }
  int16_t *inner = row + (size_t)window->pad_left * (size_t)nc;
  const size_t inner_bytes = (size_t)window->width * column;
  const size_t left_bytes = (size_t)window->pad_left * column;
  memset(row, 0, left_bytes);
  memset((uint8_t *)inner + inner_bytes, 0,
         (size_t)window->padded_width * column - left_bytes - inner_bytes);
  if (window->upscale == NPU_UPSCALE_ZEROS) {
    memset(inner, 0, inner_bytes);
  }
  if (window->upscale == NPU_UPSCALE_NONE) {
    npu_load_centred(ifm, inner_y, 0, ifm->width, c, nc, nc, inner);
    return;
  }
  npu_load_centred(ifm, inner_y / 2, 0, ifm->width, c, nc, 2 * nc, inner);
  if (window->upscale == NPU_UPSCALE_NEAREST) {
    for (int32_t x = 1; x < window->width; x += 2) {
      memcpy(inner + (size_t)x * (size_t)nc, inner + (size_t)(x - 1) * (size_t)nc, column);
    }
  }
}
