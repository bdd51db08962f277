// SPDX-License-Identifier: Apache-2.0
// Kernel windows on a padded and perhaps upscaled IFM. Internal to the model.
#ifndef FIRMWARE_ETHOS_U_MODEL_WINDOW_H_
#define FIRMWARE_ETHOS_U_MODEL_WINDOW_H_

#include "npu/ethos_u/model/feature_map.h"

typedef enum { NPU_UPSCALE_NONE = 0, NPU_UPSCALE_NEAREST = 1, NPU_UPSCALE_ZEROS = 2 } npu_upscale;

typedef struct {
  int32_t kernel_height;  // elements
  int32_t kernel_width;
  int32_t stride_y;
  int32_t stride_x;
  int32_t dilation_y;
  int32_t dilation_x;
  int32_t pad_top;
  int32_t pad_left;
  bool padded;  // on any side
  npu_upscale upscale;
  int32_t height;  // IFM height for windows: upscaled, without padding
  int32_t width;
  int32_t padded_height;  // with padding
  int32_t padded_width;
} npu_window;

// Reads the window and its IFM from the registers, for an OFM of this height and width. The size of
// the IFM follows from that of the window. Returns false on error.
bool npu_window_decode(npu_machine *machine, int32_t ofm_height, int32_t ofm_width,
                       npu_window *window, npu_feature_map *ifm);

// nc channels from c on of row y of the padded IFM as int16 without its zero point,
// row[padded_width][nc]; padding and inserted zeros are 0.
void npu_window_load_row(const npu_window *window, const npu_feature_map *ifm, int32_t y, int32_t c,
                         int32_t nc, int16_t *row);

#endif  // FIRMWARE_ETHOS_U_MODEL_WINDOW_H_
