// SPDX-License-Identifier: Apache-2.0
#include "npu/ethos_u/model/u85/kernel.h"

#include <string.h>

#include "npu/ethos_u/model/operations.h"

enum { ZEROS = 2, MAX_KERNEL = 256 * 256 };

bool npu_u85_window_decode(npu_machine *machine, int32_t ofm_height, int32_t ofm_width,
                           int32_t ifm_depth, npu_u85_window *window) {
  const uint32_t stride = npu_register(machine, NPU_SET_KERNEL_STRIDE);
  const int32_t kernel_height = (int32_t)npu_register(machine, NPU_SET_KERNEL_HEIGHT_M1) + 1;
  const int32_t kernel_width = (int32_t)npu_register(machine, NPU_SET_KERNEL_WIDTH_M1) + 1;
  const int32_t bottom = (int32_t)npu_register(machine, NPU_SET_IFM_PAD_BOTTOM);
  const int32_t right = (int32_t)npu_register(machine, NPU_SET_IFM_PAD_RIGHT);
  window->pad_top = (int32_t)npu_register(machine, NPU_SET_IFM_PAD_TOP);
  window->pad_left = (int32_t)npu_register(machine, NPU_SET_IFM_PAD_LEFT);
  window->upscale = (int32_t)npu_register(machine, NPU_SET_IFM_UPSCALE);
  window->stride_x = (int32_t)((stride & 1) | (stride >> 6 & 1) << 1) + 1;
  window->stride_y = (int32_t)((stride >> 1 & 1) | (stride >> 9 & 1) << 1) + 1;
  window->dilation_x = (int32_t)(stride >> 3 & 1) + 1;
  window->dilation_y = (int32_t)(stride >> 4 & 1) + 1;
  window->kernel_height = (kernel_height - 1) / window->dilation_y + 1;
  window->kernel_width = (kernel_width - 1) / window->dilation_x + 1;
  window->height = (ofm_height - 1) * window->stride_y + kernel_height;
  window->width = (ofm_width - 1) * window->stride_x + kernel_width;
  window->ifm_height = window->height - window->pad_top - bottom;
  window->ifm_width = window->width - window->pad_left - right;
  if (window->upscale > ZEROS) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_IFM_UPSCALE, "mode", window->upscale);
  }
  if ((kernel_height - 1) % window->dilation_y != 0 ||
      (kernel_width - 1) % window->dilation_x != 0) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_KERNEL_STRIDE,
                    "dilation, with the extent of the kernel", stride);
  }
  if ((int64_t)window->kernel_height * window->kernel_width > MAX_KERNEL) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_KERNEL_HEIGHT_M1, "kernel elements",
                    (int64_t)window->kernel_height * window->kernel_width);
  }
  if (window->ifm_height < 1 || window->ifm_width < 1) {
    return npu_fail(machine, ETHOS_U_ERROR_FIELD, NPU_SET_IFM_PAD_BOTTOM,
                    "IFM rows left by the padding", window->ifm_height);
  }
  const int32_t scale = window->upscale == 0 ? 1 : 2;
  return npu_u85_input_decode(machine, NPU_IFM, (window->ifm_height + scale - 1) / scale,
                              (window->ifm_width + scale - 1) / scale, ifm_depth, &window->ifm);
}

void npu_u85_window_row(const npu_u85_window *window, int32_t y, int64_t fill, int64_t *out) {
  const npu_feature_map *map = &window->ifm.map;
  const int32_t row = y - window->pad_top;
  const int32_t depth = map->depth;
  const int64_t count = (int64_t)window->width * depth;
  if (row < 0 || row >= window->ifm_height) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = fill;
    }
    return;
  }
  int64_t *inner = out + (int64_t)window->pad_left * depth;
  const int64_t inner_count = (int64_t)window->ifm_width * depth;
  for (int64_t i = 0; i < (int64_t)window->pad_left * depth; ++i) {
    out[i] = fill;
  }
  for (int64_t i = (int64_t)window->pad_left * depth + inner_count; i < count; ++i) {
    out[i] = fill;
  }
  if (window->upscale == 0) {
    npu_u85_load_row(&window->ifm, row, inner);
    return;
  }
  if (window->upscale == ZEROS && row % 2 != 0) {
    memset(inner, 0, (size_t)inner_count * sizeof(inner[0]));
    return;
  }
  // Spreads the columns from the last one on, in place.
  npu_u85_load_row(&window->ifm, row / 2, inner);
  for (int32_t x = window->ifm_width - 1; x >= 0; --x) {
    int64_t *to = inner + (int64_t)x * depth;
    if (window->upscale == ZEROS && x % 2 != 0) {
      memset(to, 0, (size_t)depth * sizeof(to[0]));
    } else {
      memmove(to, inner + (int64_t)(x / 2) * depth, (size_t)depth * sizeof(to[0]));
    }
  }
}

bool npu_u85_accumulators_decode(npu_machine *machine, npu_u85_accumulators *accumulators) {
  const uint32_t format = npu_register(machine, NPU_SET_ACC_FORMAT);
  int32_t shape[3];
  npu_u85_shape(machine, shape);
  accumulators->height = shape[0];
  accumulators->width = shape[1];
  accumulators->depth = shape[2];
  accumulators->start = format >> 4 & 3;
  accumulators->writes = (format >> 6 & 1) == 0;
  accumulators->is_wide = (format & 3) == 1;
  accumulators->kept = NULL;
  if ((format & 3) > 1 || accumulators->start > NPU_U85_FROM_IFM2) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_ACC_FORMAT, "acc_format, acc_input",
                    format);
  }
  const uint64_t elements = (uint64_t)shape[0] * (uint64_t)shape[1] * (uint64_t)shape[2];
  if (accumulators->start == NPU_U85_FROM_KEPT && machine->kept.elements[0] != elements) {
    return npu_fail(machine, ETHOS_U_ERROR_NOT_SET, NPU_SET_ACC_FORMAT,
                    "acc_input, accumulators of another shape", machine->kept.elements[0]);
  }
  if (accumulators->start == NPU_U85_FROM_KEPT || !accumulators->writes) {
    accumulators->kept = npu_u85_keep(machine, 0, elements, sizeof(int64_t));
  }
  if (accumulators->writes) {
    machine->kept.elements[0] = 0;
  }
  if (accumulators->start == NPU_U85_FROM_IFM2 &&
      !npu_u85_input_decode(machine, NPU_IFM2, shape[0], shape[1], shape[2], &accumulators->ifm2)) {
    return false;
  }
  return accumulators->writes
             ? npu_u85_output_decode(machine, NPU_U85_SCALED, &accumulators->output)
             : npu_ok(machine);
}

// False if an accumulator of a row does not fit its width.
static bool check_row(npu_machine *machine, const npu_u85_accumulators *accumulators,
                      const int64_t *row) {
  const int64_t limit = (int64_t)1 << (accumulators->is_wide ? 47 : 31);
  for (int64_t i = 0; i < (int64_t)accumulators->width * accumulators->depth; ++i) {
    if (row[i] >= limit || row[i] < -limit) {
      return npu_fail(machine, ETHOS_U_ERROR_OVERFLOW, NPU_SET_ACC_FORMAT, "accumulator", row[i]);
    }
  }
  return true;
}

int64_t *npu_u85_accumulators_start(npu_machine *machine, const npu_u85_accumulators *accumulators,
                                    int32_t y, int64_t *row) {
  const int64_t count = (int64_t)accumulators->width * accumulators->depth;
  if (accumulators->kept != NULL) {
    row = accumulators->kept + y * count;
  }
  if (accumulators->start == NPU_U85_FROM_IFM2) {
    npu_u85_load_row(&accumulators->ifm2, y, row);
    return check_row(machine, accumulators, row) ? row : NULL;
  }
  if (accumulators->start == NPU_U85_FROM_ZERO) {
    memset(row, 0, (size_t)count * sizeof(row[0]));
  }
  return row;
}

bool npu_u85_accumulators_finish(npu_machine *machine, const npu_u85_accumulators *accumulators,
                                 int32_t y, const int64_t *row) {
  return accumulators->writes ? npu_u85_output_row(machine, &accumulators->output, y, row)
                              : check_row(machine, accumulators, row);
}

bool npu_u85_run(npu_machine *machine, uint32_t key, uint32_t parameter) {
  switch (key) {
    case NPU_OP_CONV:
      return npu_u85_run_convolution(machine, false, parameter != 0);
    case NPU_OP_DEPTHWISE:
      return npu_u85_run_convolution(machine, true, false);
    case NPU_OP_POOL:
      return npu_u85_run_pool(machine, parameter);
    case NPU_OP_ELEMENTWISE:
      return npu_u85_run_elementwise(machine, parameter);
    case NPU_OP_RESIZE:
      return npu_u85_run_resize(machine, parameter);
    default:
      return npu_u85_run_dma(machine);
  }
}
