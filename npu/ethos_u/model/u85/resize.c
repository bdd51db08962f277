// SPDX-License-Identifier: Apache-2.0
// OP_RESIZE of U85.
#include "npu/ethos_u/model/u85/kernel.h"

enum { BILINEAR = 0, NEAREST = 2, FRACTION_BITS = 16 };

// One axis: element k is at (k * step + offset) / scale.
typedef struct {
  int32_t size;  // of the IFM
  int32_t scale;
  int32_t step;
  int32_t offset;
} axis;

typedef struct {
  int32_t first;
  int32_t second;
  int32_t weight;  // of the second, of `scale`
} place;

static axis decode_axis(npu_machine *machine, uint32_t size_key, uint32_t scale_key,
                        uint32_t step_key, uint32_t offset_key) {
  const int32_t scale = (int32_t)npu_register(machine, scale_key) + 1;
  const uint32_t offset = npu_register(machine, offset_key);
  return (axis){
      .size = (int32_t)npu_register(machine, size_key) + 1,
      .scale = scale,
      .step = (int32_t)(npu_register_parameter(machine, step_key) & 15) * scale +
              (int32_t)(npu_register(machine, step_key) & 0x7FF),
      .offset = (int32_t)(offset ^ 0x800) - 0x800,
  };
}

static int32_t within(int32_t value, int32_t size) {
  return value < 0 ? 0 : value >= size ? size - 1 : value;
}

static place place_of(const axis *a, int32_t k) {
  const int32_t position = k * a->step + a->offset;
  int32_t whole = position / a->scale;
  whole -= whole * a->scale > position ? 1 : 0;
  return (place){within(whole, a->size), within(whole + 1, a->size), position - whole * a->scale};
}

bool npu_u85_run_resize(npu_machine *machine, uint32_t mode) {
  npu_u85_input ifm;
  npu_u85_output output;
  int32_t shape[3];
  if (mode != BILINEAR && mode != NEAREST) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, ETHOS_U_NO_FIELD, "resize_mode", mode);
  }
  npu_u85_shape(machine, shape);
  const axis ay = decode_axis(machine, NPU_SET_KERNEL_HEIGHT_M1, NPU_SET_RESIZE_Y_SCALE_N_M1,
                              NPU_SET_RESIZE_Y, NPU_SET_RESIZE_Y_OFFSET);
  const axis ax = decode_axis(machine, NPU_SET_KERNEL_WIDTH_M1, NPU_SET_RESIZE_X_SCALE_N_M1,
                              NPU_SET_RESIZE_X, NPU_SET_RESIZE_X_OFFSET);
  if (!npu_u85_input_decode(machine, NPU_IFM, ay.size, ax.size, shape[2], &ifm) ||
      !npu_u85_output_decode(machine, NPU_U85_SCALED, &output)) {
    return false;
  }
  if (ifm.map.element > 2) {
    return npu_fail(machine, ETHOS_U_ERROR_UNSUPPORTED, NPU_SET_IFM_PRECISION,
                    "activation_precision, of RESIZE", ifm.map.element);
  }
  const uint64_t in_row = (uint64_t)ax.size * (uint64_t)shape[2] * sizeof(int64_t);
  const uint64_t sizes[3] = {in_row, in_row,
                             (uint64_t)shape[1] * (uint64_t)shape[2] * sizeof(int64_t)};
  void *buffers[3];
  if (!npu_u85_take(machine, sizes, 3, buffers)) {
    return false;
  }
  if (machine->regions == NULL) {
    return true;
  }
  int64_t *top = buffers[0];
  int64_t *bottom = buffers[1];
  int64_t *values = buffers[2];
  const bool nearest = mode == NEAREST;
  for (int32_t y = 0; y < shape[0]; ++y) {
    const place py = place_of(&ay, y);
    npu_u85_load_row(&ifm, nearest && 2 * py.weight >= ay.scale ? py.second : py.first, top);
    npu_u85_load_row(&ifm, py.second, bottom);
    for (int32_t x = 0; x < shape[1]; ++x) {
      const place px = place_of(&ax, x);
      const int64_t left = (int64_t)px.first * shape[2];
      const int64_t right = (int64_t)px.second * shape[2];
      const int64_t near = 2 * px.weight >= ax.scale ? right : left;
      for (int32_t c = 0; c < shape[2]; ++c) {
        const int64_t above = top[left + c] * (ax.scale - px.weight) + top[right + c] * px.weight;
        const int64_t below =
            bottom[left + c] * (ax.scale - px.weight) + bottom[right + c] * px.weight;
        const int64_t sum =
            nearest ? top[near + c] : above * (ay.scale - py.weight) + below * py.weight;
        values[(int64_t)x * shape[2] + c] = sum * ((int64_t)1 << FRACTION_BITS);
      }
    }
    if (!npu_u85_output_row(machine, &output, y, values)) {
      return false;
    }
  }
  return true;
}
