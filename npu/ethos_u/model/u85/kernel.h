// SPDX-License-Identifier: Apache-2.0
// Accumulators of U85's kernels with windows: where they start, and where they go. Internal to the
// model.
#ifndef FIRMWARE_ETHOS_U_MODEL_U85_KERNEL_H_
#define FIRMWARE_ETHOS_U_MODEL_U85_KERNEL_H_

#include "npu/ethos_u/model/u85/data.h"

typedef struct {
  int32_t kernel_height;  // elements
  int32_t kernel_width;
  int32_t stride_y;
  int32_t stride_x;
  int32_t dilation_y;
  int32_t dilation_x;
  int32_t pad_top;
  int32_t pad_left;
  int32_t upscale;
  int32_t ifm_height;  // upscaled, without padding
  int32_t ifm_width;
  int32_t height;  // with padding
  int32_t width;
  npu_u85_input ifm;
} npu_u85_window;

// Reads window and IFM for the OFM's height and width. False on error.
bool npu_u85_window_decode(npu_machine *machine, int32_t ofm_height, int32_t ofm_width,
                           int32_t ifm_depth, npu_u85_window *window);

// Row y of the padded IFM without its zero point, out[width][depth]. Padding is `fill`, inserted
// zeros are 0.
void npu_u85_window_row(const npu_u85_window *window, int32_t y, int64_t fill, int64_t *out);

static inline bool npu_u85_in_ifm(const npu_u85_window *window, int32_t y, int32_t x) {
  const int32_t row = y - window->pad_top;
  const int32_t column = x - window->pad_left;
  return row >= 0 && row < window->ifm_height && column >= 0 && column < window->ifm_width;
}

typedef struct {
  int32_t height;
  int32_t width;
  int32_t depth;
  uint32_t start;      // from zero, from the kept accumulators, or from IFM2
  bool writes;         // else the accumulators are kept
  bool is_wide;        // 48 bits
  int64_t *kept;       // null if the accumulators are not kept
  npu_u85_input ifm2;  // NPU_U85_FROM_IFM2
  npu_u85_output output;
} npu_u85_accumulators;

enum { NPU_U85_FROM_ZERO = 0, NPU_U85_FROM_KEPT = 1, NPU_U85_FROM_IFM2 = 2 };

// Reads ACC_FORMAT and, if it writes, the output. False on error.
bool npu_u85_accumulators_decode(npu_machine *machine, npu_u85_accumulators *accumulators);

// The accumulators of row y at their start; in `row` unless kept. Null on overflow.
int64_t *npu_u85_accumulators_start(npu_machine *machine, const npu_u85_accumulators *accumulators,
                                    int32_t y, int64_t *row);

// Writes row y, if it is to be written. False on overflow.
bool npu_u85_accumulators_finish(npu_machine *machine, const npu_u85_accumulators *accumulators,
                                 int32_t y, const int64_t *row);

// The operations.
bool npu_u85_run_convolution(npu_machine *machine, bool depthwise, bool from_ifm2);
bool npu_u85_run_pool(npu_machine *machine, uint32_t mode);
bool npu_u85_run_elementwise(npu_machine *machine, uint32_t mode);
bool npu_u85_run_resize(npu_machine *machine, uint32_t mode);
bool npu_u85_run_dma(npu_machine *machine);

#endif  // FIRMWARE_ETHOS_U_MODEL_U85_KERNEL_H_
