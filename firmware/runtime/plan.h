// SPDX-License-Identifier: Apache-2.0
//
// A plan: a model as constants for one board. The plan compiler (aot/plan) writes it as C. It
// consists of calls to exactly the kernels the model needs, with all addresses known. A plan is
// never written; its activations and scratch memory are in arenas it points to.
#ifndef FIRMWARE_RUNTIME_PLAN_H_
#define FIRMWARE_RUNTIME_PLAN_H_

#include <stdint.h>

#include "kernels/common/dtype.h"
#include "kernels/common/status.h"
#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Meaning of a shape's dimensions. A shape is always in memory order, and the last dimension is
// contiguous: an image of NHWC layout has shape {n, h, w, c}.
typedef enum {
  PL_LAYOUT_ROW_MAJOR = 0,  // nothing in particular
  PL_LAYOUT_NCHW = 1,
  PL_LAYOUT_NHWC = 2,
  PL_LAYOUT_NLC = 3,  // a sequence, all channels of a step together
} pl_layout;

// Description of a tensor, without its data. A quantized number q stands for (q - zero_point) *
// scale.
typedef struct {
  pl_dtype dtype;
  pl_layout layout;
  uint32_t rank;
  int32_t shape[PL_MAX_RANK];  // the first `rank` entries, each at least 1
  float scale;                 // 0 if the tensor is not quantized
  int32_t zero_point;
  uint32_t bytes;  // of all its data
} pl_tensor_spec;

// A tensor: the model's own in an arena, or one of the caller's. Data are aligned to the size of an
// element.
typedef struct {
  pl_tensor_spec spec;
  void *data;
} pl_tensor;

typedef struct {
  const uint8_t *base;
  uint32_t size;
} pl_arena;

// A tensor in the arena, kept between runs.
typedef struct {
  void *data;
  const void *initial;  // its content before the first run; null: all its bytes are `fill`
  uint32_t bytes;
  uint8_t fill;
} pl_state;

typedef struct pl_states pl_states;

// All state of a plan. `reset` is pl_states_reset, so a program without state does not link it.
struct pl_states {
  void (*reset)(const pl_states *states);
  const pl_state *items;
  uint32_t count;
};

// Resets all state to its content before the first run.
void pl_states_reset(const pl_states *states);

// Constants of a plan, and the CRC-32 (IEEE 802.3) of all their bytes, one after another.
typedef struct {
  const void *data;
  uint32_t bytes;
} pl_constant;

typedef struct pl_constants pl_constants;

// `check` is pl_constants_check, so a program without checks does not link it.
struct pl_constants {
  pl_status (*check)(const pl_constants *constants);
  const pl_constant *items;
  uint32_t count;
  uint32_t crc;
};

// Returns PL_OK, or PL_ERROR_WEIGHTS if a constant has changed since the plan was made.
PL_MUST_USE pl_status pl_constants_check(const pl_constants *constants);

// Writes row `row` of a model's input to `to`: the next one, from 0 on. The last rows are not
// requested if they are unused. `user` is the app's. Any other status than PL_OK ends the run,
// which returns it.
typedef pl_status (*pl_row_reader)(void *user, uint32_t row, void *to);

// Source of the rows in a run.
typedef struct {
  pl_row_reader read;
  void *user;
  const uint8_t *data;  // of pl_input_rows_copy
  uint32_t row_bytes;
} pl_row_source;

typedef struct pl_input_rows pl_input_rows;

// A row-streamed input. `from_tensor` is pl_input_rows_copy, so a program whose inputs are in the
// arena does not link it.
struct pl_input_rows {
  void (*from_tensor)(const pl_input_rows *rows, const void *data);
  pl_row_source *source;
  uint32_t row_bytes;
};

// Has the rows of the next run copied from a whole tensor.
void pl_input_rows_copy(const pl_input_rows *rows, const void *data);

// Not 0 while a plan on pl_shared_arena runs. That arena is in the board's best memory and shared
// by plans of a program.
extern volatile uint32_t pl_shared_busy;

// Attribute for a plan's table of arenas. The linker places the tables of all plans of a program
// one after another, so the runtime knows every arena. The alignment is explicit because compilers
// align large arrays more, and that would leave gaps.
#define PL_ARENA_TABLE __attribute__((aligned(__alignof__(pl_arena)), section("pl_arenas")))

typedef struct pl_step pl_step;
typedef pl_status (*pl_step_fn)(const pl_context *context, const pl_step *step);

// One kernel call; `params`, `dims` and `data` point to the structs of the kernel in `run`.
struct pl_step {
  pl_step_fn run;
  pl_context context;
  const void *params;
  const void *dims;
  const void *data;
};

typedef struct {
  const pl_step *steps;
  const pl_tensor *inputs;
  const pl_tensor *outputs;
  const pl_arena *arenas;
  const pl_states *states;          // null if there is none
  const pl_constants *constants;    // null if there is no checksum
  const pl_input_rows *input_rows;  // of the one input, which has no data then; null: all have
  volatile uint32_t *busy;          // not 0 while the plan's arena is in use; null: it is not known
  uint32_t step_count;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t arena_count;
  uint32_t shares_arena;  // not 0: other plans have the same arena
} pl_plan;

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_RUNTIME_PLAN_H_
