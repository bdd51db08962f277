// SPDX-License-Identifier: Apache-2.0
// Sixteen channels of a pixel at a time, directly from the input, without scratch. The last eight
// or fewer are separate.
//
// Products of 8 bits take 16 bits. Two of them fit into 16 bits, because weights are at least -127.
// Sums of two are widened to 32 bits. VMULLB and VMULLT multiply the even and the odd channels.
// Sixteen channels have sums of channels 0 4 8 12, 2 6 10 14, 1 5 9 13 and 3 7 11 15. For eight
// they are those of 0 2 4 6 and 1 3 5 7. Constants are packed in that order, and narrowing restores
// the original order.
#include <arm_mve.h>

#include "kernels/depthwise_conv2d/depthwise_conv2d.h"

#define LANES 16
#define HALF 8
#define FACTORS 24  // per eight channels: biases, multipliers, shifts

// Keeps loads after it. GCC would load all values first and spill them.
#define IN_ORDER __asm__ volatile("" ::: "memory")

// Rows of taps. Those in padding are one row with steps of 0.
typedef struct {
  const int8_t *x;
  int32_t step;   // bytes from tap to tap
  int32_t count;  // of a row
  int32_t skip;   // bytes from the end of a row to the next
  int32_t rows;
} run;

// Two taps of a row per loop turn, then one more if there is one. They use q4 to q7. C with
// intrinsics takes 29 instructions for two taps of sixteen channels, because GCC spills sums. This
// takes 24. VPR cannot be listed as clobbered for clang, so each assembly block sets its own.
#define ADD_RUN(LANES_LOADED, ADD_TWO, ADD_ONE, ...)                                              \
  __asm__ volatile(LANES_LOADED                                                                   \
                   "1:\twls lr, %[twos], 3f\n\t"                                                  \
                   "2:\t" ADD_TWO                                                                 \
                   "le lr, 2b\n\t"                                                                \
                   "3:\tlsls lr, %[count], #31\n\tbeq 4f\n\t" ADD_ONE                             \
                   "4:\tadd %[x], %[skip]\n\tsubs %[rows], #1\n\tbne 1b\n\t"                      \
                   : [x] "+l"(taps.x), [rows] "+r"(taps.rows), [w] "+l"(w), __VA_ARGS__           \
                   : [step] "r"(taps.step), [count] "r"(taps.count), [twos] "r"(taps.count >> 1), \
                     [skip] "r"(taps.skip), [left] "r"(left)                                      \
                   : "q4", "q5", "q6", "q7", "lr", "cc", "memory")
#define LOAD(X, TYPE) "vpst\n\tvldrbt." TYPE " " X ", [%[x]]\n\tadd %[x], %[step]\n\t"
#define WIDEN(FROM, A0, A1)                                                                 \
  "vmovlb.s16 q5, " FROM "\n\tvmovlt.s16 " FROM ", " FROM "\n\tvadd.i32 %q[" A0 "], %q[" A0 \
  "], q5\n\tvadd.i32 %q[" A1 "], %q[" A1 "], " FROM "\n\t"
// Sixteen channels: the second weights are loaded twice, as registers are too few.
#define FIRST_16   \
  LOAD("q4", "u8") \
  "vldrb.u8 q5, [%[w]], #16\n\tvmullb.s8 q6, q4, q5\n\tvmullt.s8 q4, q4, q5\n\t"
#define SECOND_16                                                          \
  LOAD("q5", "u8")                                                         \
  "vldrb.u8 q7, [%[w]]\n\tvmullt.s8 q7, q5, q7\n\tvadd.i16 q4, q4, q7\n\t" \
  "vldrb.u8 q7, [%[w]], #16\n\tvmullb.s8 q5, q5, q7\n\tvadd.i16 q6, q6, q5\n\t"
#define WIDEN_16 WIDEN("q6", "a0", "a1") WIDEN("q4", "a2", "a3")
// Eight channels.
#define PRODUCT_8(X, W) \
  LOAD(X, "s16") "vldrb.s16 " W ", [%[w]], #8\n\tvmul.i16 " X ", " X ", " W "\n\t"
#define TWO_8 PRODUCT_8("q4", "q5") PRODUCT_8("q5", "q6") "vadd.i16 q4, q4, q5\n\t"
#define WIDEN_8 WIDEN("q4", "a0", "a1")
#define STORE(BITS, Y)                                                     \
  __asm__ volatile("vctp." BITS " %1\n\tvpst\n\tvstrbt." BITS " %q2, [%0]" \
                   :                                                       \
                   : "l"(output), "r"(left), "w"(Y)                        \
                   : "memory")

// requantize.h for shifts below 0. VRSHL rounds ties up. Subtracting one below zero rounds away
// from zero: (2^32 * h + 2 * h) / 2^32, rounded down, for any h except -2^31. No product is -2^31.
PL_INLINE int32x4_t requantize(int32x4_t x, const int32_t *multiplier) {
  const int32x4_t h = vqrdmulhq_s32(x, vldrwq_s32(multiplier));
  const int32x4_t y = vrshlq_s32(vqdmlahq_n_s32(h, h, 1), vldrwq_s32(multiplier + HALF));
  IN_ORDER;
  return y;
}

// Two sums, in the low bytes of eight lanes. In place: from intrinsics GCC copies.
PL_INLINE int8x16_t narrow(int32x4_t even, int32x4_t odd, const int32_t *factors,
                           int32_t zero_point) {
  even = requantize(even, factors + HALF);
  odd = requantize(odd, factors + HALF + 4);
  __asm__(
      "vqmovnb.s32 %q0, %q0\n\tvqmovnt.s32 %q0, %q1\n\tvqadd.s16 %q0, %q0, %2\n\t"
      "vqmovnb.s16 %q0, %q0"
      : "+&w"(even)
      : "w"(odd), "r"(zero_point));
  return vreinterpretq_s8_s32(even);
}

PL_INLINE int8x16_t clamp(const pl_depthwise_conv2d_params *params, int8x16_t y) {
  if (params->activation_max - params->activation_min == INT8_MAX - INT8_MIN) return y;
  return vminq_s8(vmaxq_s8(y, vdupq_n_s8((int8_t)params->activation_min)),
                  vdupq_n_s8((int8_t)params->activation_max));
}

// Number of positions before the end, among `count` from `start` in steps of `step`.
static int32_t places_before(int32_t end, int32_t start, int32_t step, int32_t count) {
  if (start >= end) return 0;
  const int32_t before = (end - start + step - 1) / step;
  return before < count ? before : count;
}

// Taps of a window along an axis.
typedef struct {
  int32_t before;  // the image
  int32_t inside;
  int32_t after;
} places;

PL_INLINE places places_of(int32_t first, int32_t dilation, int32_t count, int32_t size) {
  const int32_t before = places_before(0, first, dilation, count);
  const int32_t inside = places_before(size, first, dilation, count) - before;
  return (places){before, inside, count - before - inside};
}

// Windows of a row, or of whole rows, with the same taps in padding. Their parts alternate: taps in
// padding, then rows of taps inside. Counted from the end, even parts are inside.
typedef struct {
  const int8_t *padding;
  run inside;  // all rows, or one if padding is next to them
  int32_t row_step;
  int32_t first;  // part
  int32_t last;
  int32_t before;  // taps in padding before the first row
  int32_t between;
  int32_t after;
  int32_t rows;
  int32_t rows_step;  // bytes from row to row of windows
  int32_t count;      // windows of a row
  int32_t step;       // bytes from window to window
} windows;

// Starts at this row of taps, and steps over it.
PL_INLINE run part_of(const windows *of, int32_t number, const int8_t **row) {
  if (number % 2 == 0) {
    const int8_t *const x = *row;
    *row += of->row_step;
    return (run){x, of->inside.step, of->inside.count, of->inside.skip, of->inside.rows};
  }
  const int32_t in_front = number == of->first ? of->before : of->between;
  return (run){of->padding, 0, number == 1 ? of->after : in_front, 0, 1};
}

// All channels of one window. Returns the address after them.
PL_INLINE int8_t *convolve_window(const windows *of, const pl_depthwise_conv2d_params *params,
                                  const pl_depthwise_conv2d_data *data, int32_t channels,
                                  const int8_t *first, int8_t *output) {
  const int8_t *w = data->weight;
  const int32_t *k = data->bias;
  for (int32_t left = channels; left > 0; left -= LANES) {
    const int is_half = left <= HALF;
    int32x4_t a0 = vldrwq_s32(k);
    int32x4_t a1 = vldrwq_s32(k + 4);
    int32x4_t a2 = a0;
    int32x4_t a3 = a0;
    if (!is_half) {
      a2 = vldrwq_s32(k + FACTORS);
      a3 = vldrwq_s32(k + FACTORS + 4);
    }
    const int8_t *row = first;
    for (int32_t part = of->first; part >= of->last; --part) {
      run taps = part_of(of, part, &row);
      if (is_half) {
        ADD_RUN("vctp.16 %[left]\n\t", TWO_8 WIDEN_8,
                PRODUCT_8("q4", "q5") WIDEN_8, [a0] "+w"(a0), [a1] "+w"(a1));
      } else {
        ADD_RUN("vctp.8 %[left]\n\t", FIRST_16 SECOND_16 WIDEN_16,
                FIRST_16 WIDEN_16, [a0] "+w"(a0), [a1] "+w"(a1), [a2] "+w"(a2), [a3] "+w"(a3));
      }
    }
    int8x16_t y = narrow(a0, a1, k, params->output_zero_point);
    if (is_half) {
      STORE("16", clamp(params, y));
    } else {
      const int8x16_t odd = narrow(a2, a3, k + FACTORS, params->output_zero_point);
      y = vmovntq_s16(y, vreinterpretq_s16_s8(odd));
      STORE("8", clamp(params, y));
    }
    output += left < LANES ? left : LANES;
    first += LANES;
    k += 2 * FACTORS;
  }
  return output;
}

static __attribute__((noinline)) void convolve(const windows *of,
                                               const pl_depthwise_conv2d_params *params,
                                               const pl_depthwise_conv2d_data *data,
                                               int32_t channels, int8_t *output) {
  const int8_t *row = of->inside.x;
  for (int32_t rows = of->rows; rows > 0; --rows) {
    const int8_t *first = row;
    for (int32_t count = of->count; count > 0; --count) {
      output = convolve_window(of, params, data, channels, first, output);
      first += of->step;
    }
    row += of->rows_step;
  }
}

pl_status pl_depthwise_direct_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                 const pl_depthwise_conv2d_dims *dims,
                                 const pl_depthwise_conv2d_data *data) {
  (void)ctx;
  int8_t padding[LANES];
  vstrbq_s8(padding, vdupq_n_s8((int8_t)params->input_zero_point));
  const int32_t channels = dims->input_c;
  const int32_t row_bytes = dims->input_w * channels;
  const int32_t tap_step = params->dilation_w * channels;
  const int32_t row_step = params->dilation_h * row_bytes;
  // Windows with their last taps inside, or before the input.
  const int32_t inside_h = places_before(dims->input_h - (dims->kernel_h - 1) * params->dilation_h,
                                         -params->pad_top, params->stride_h, dims->output_h);
  const int32_t inside_w = places_before(dims->input_w - (dims->kernel_w - 1) * params->dilation_w,
                                         -params->pad_left, params->stride_w, dims->output_w);
  // Vertical taps of windows one tap wide are a row of taps.
  const int is_column = dims->kernel_w == 1;
  windows of;
  of.padding = padding;
  of.row_step = row_step;
  of.rows_step = params->stride_h * row_bytes;
  of.step = params->stride_w * channels;
  of.rows = 1;
  of.inside.step = is_column ? row_step : tap_step;
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = dims->batches; batch > 0; --batch) {
    int32_t y = -params->pad_top;
    for (int32_t oy = 0; oy < dims->output_h; oy += of.rows) {
      const places down = places_of(y, params->dilation_h, dims->kernel_h, dims->input_h);
      const int8_t *const image_row = image + y * row_bytes + down.before * row_step;
      int32_t x = -params->pad_left;
      for (int32_t ox = 0; ox < dims->output_w; ox += of.count) {
        const places right = places_of(x, params->dilation_w, dims->kernel_w, dims->input_w);
        const places rows = is_column ? right : down;
        const places row = is_column ? down : right;
        of.between = row.before + row.after;
        const int32_t row_taps = of.between + row.inside;
        of.before = rows.before * row_taps + row.before;
        of.after = rows.after * row_taps + row.after;
        if (rows.inside == 0) of.before = of.after = (rows.before + rows.after) * row_taps;
        of.inside.x = image_row + x * channels + right.before * tap_step;
        of.inside.count = row.inside;
        of.inside.skip = row_step - row.inside * of.inside.step;
        of.inside.rows = of.between == 0 ? rows.inside : 1;
        of.first = 2 * (of.between == 0 ? rows.inside > 0 : rows.inside) + (of.before > 0);
        of.last = of.after > 0 ? 1 : 2;
        of.count = right.inside == dims->kernel_w ? inside_w - ox : 1;
        const int are_rows = of.count == dims->output_w && down.inside == dims->kernel_h;
        of.rows = are_rows ? inside_h - oy : 1;
        convolve(&of, params, data, channels, output);
        output += of.rows * of.count * channels;
        x += of.count * params->stride_w;
      }
      y += of.rows * params->stride_h;
    }
    image += dims->input_h * row_bytes;
  }
  return PL_OK;
}
