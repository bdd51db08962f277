// SPDX-License-Identifier: Apache-2.0
// Sixteen channels at a time. The rows of the image that a row of windows needs are copied to a
// ring in scratch, padding and all, so that windows are alike everywhere. Where scratch is not for
// the columns of all of them, rows go by strips of as many windows as it is for, each with all its
// channels before the next.
//
// Products of 8 bits are 16 bits (VMULLB and VMULLT, of the even and the odd channels), two of them
// fit into 16 bits as weights are at least -127, and sums of two are widened to 32 bits. The sums
// are those of channels 0 4 8 12, 2 6 10 14, 1 5 9 13 and 3 7 11 15; constants are packed in that
// order, and narrowing turns it back.
#include <arm_mve.h>

#include "kernels/depthwise_conv2d/depthwise_conv2d.h"

#define LANES 16
#define INLINE static inline __attribute__((always_inline))

// Keeps loads behind it: GCC would load everything first, and spill it.
#define IN_ORDER __asm__ volatile("" ::: "memory")

// Makes a pointer new in each turn of a loop: GCC would keep, and spill, one for each offset.
#define RENEW(POINTER) __asm__("" : "+r"(POINTER))

typedef struct {
  int8_t *rows;  // [slots][row_bytes]
  int32_t slots;
  int32_t row_bytes;  // of 16 channels of the columns that windows have, padding among them
  int32_t inside;     // bytes from a row's start to the first column of the input
  int32_t columns;    // of the input
  int32_t windows;    // in a row
  int8x16_t padding;
} ring;

// Windows that are computed together: `rows` rows of them.
typedef struct {
  int32_t y, rows;
  int32_t x, columns;
} part;

// The last stage; is_whole if there is nothing to clamp.
typedef struct {
  int16_t zero_point;
  int8_t minimum;
  int8_t maximum;
  int is_whole;
} stage;

typedef struct {
  int32x4_t a0, a1, a2, a3;
} sums;

INLINE void widen(sums *s, int16x8_t even, int16x8_t odd) {
  s->a0 = vaddq_s32(s->a0, vmovlbq_s16(even));
  s->a1 = vaddq_s32(s->a1, vmovltq_s16(even));
  s->a2 = vaddq_s32(s->a2, vmovlbq_s16(odd));
  s->a3 = vaddq_s32(s->a3, vmovltq_s16(odd));
  IN_ORDER;
}

INLINE void add_tap(sums *s, const int8_t *x, const int8_t *w) {
  const int8x16_t xs = vldrbq_s8(x);
  const int8x16_t ws = vldrbq_s8(w);
  widen(s, vmullbq_int_s8(xs, ws), vmulltq_int_s8(xs, ws));
}

INLINE void add_2_taps(sums *s, const int8_t *x0, const int8_t *x1, const int8_t *w) {
  const int8x16_t xs0 = vldrbq_s8(x0);
  const int8x16_t ws0 = vldrbq_s8(w);
  const int16x8_t even = vmullbq_int_s8(xs0, ws0);
  const int16x8_t odd = vmulltq_int_s8(xs0, ws0);
  IN_ORDER;
  // The input is loaded twice: a product beside it and the weights would be in a ninth register.
  const int8x16_t ws1 = vldrbq_s8(w + LANES);
  const int16x8_t evens = vaddq_s16(even, vmullbq_int_s8(vldrbq_s8(x1), ws1));
  IN_ORDER;
  widen(s, evens, vaddq_s16(odd, vmulltq_int_s8(vldrbq_s8(x1), ws1)));
}

INLINE sums begin(const int32_t *bias) {
  return (sums){vldrwq_s32(bias), vldrwq_s32(bias + 4), vldrwq_s32(bias + 8),
                vldrwq_s32(bias + 12)};
}

// requantize.h for shifts below 0.
INLINE int32x4_t requantize(int32x4_t x, const int32_t *factors) {
  int32x4_t h = vqrdmulhq_s32(x, vldrwq_s32(factors));
  h = vaddq_s32(h, vshrq_n_s32(h, 31));
  h = vrshlq_s32(h, vldrwq_s32(factors + LANES));
  IN_ORDER;
  return h;
}

INLINE int8x16_t narrow(const stage *to, sums s, const int32_t *factors) {
  const int16_t zero_point = to->zero_point;
  int16x8_t even = vqmovnbq_s32(vuninitializedq_s16(), requantize(s.a0, factors));
  even = vqmovntq_s32(even, requantize(s.a1, factors + 4));
  int16x8_t odd = vqmovnbq_s32(vuninitializedq_s16(), requantize(s.a2, factors + 8));
  odd = vqmovntq_s32(odd, requantize(s.a3, factors + 12));
  int8x16_t y = vqmovnbq_s16(vuninitializedq_s8(), vqaddq_n_s16(even, zero_point));
  y = vqmovntq_s16(y, vqaddq_n_s16(odd, zero_point));
  if (to->is_whole) return y;
  return vminq_s8(vmaxq_s8(y, vdupq_n_s8(to->minimum)), vdupq_n_s8(to->maximum));
}

static stage stage_of(const pl_depthwise_conv2d_params *params) {
  return (stage){
      .zero_point = (int16_t)params->output_zero_point,
      .minimum = (int8_t)params->activation_min,
      .maximum = (int8_t)params->activation_max,
      .is_whole = params->activation_max - params->activation_min == INT8_MAX - INT8_MIN,
  };
}

// As add_2_taps and add_tap, for sums in q0 to q3.
#define WIDEN                                                         \
  "vmovlb.s16 q4, q6\n\tvmovlt.s16 q6, q6\n\tvadd.i32 q0, q0, q4\n\t" \
  "vadd.i32 q1, q1, q6\n\tvmovlb.s16 q4, q7\n\tvmovlt.s16 q7, q7\n\t" \
  "vadd.i32 q2, q2, q4\n\tvadd.i32 q3, q3, q7\n\t"
#define LOAD(X, X_AT, W_AT) \
  "vldrb.u8 q4, [%[" X "], #" X_AT "]\n\tvldrb.u8 q5, [%[w], #" W_AT "]\n\t"
#define TAP(X, X_AT, W_AT) LOAD(X, X_AT, W_AT) "vmullb.s8 q6, q4, q5\n\tvmullt.s8 q7, q4, q5\n\t"
#define TAPS_2(X, X_AT, W_AT, Y, Y_AT, V_AT) \
  TAP(X, X_AT, W_AT) LOAD(Y, Y_AT, V_AT)                                         \
  "vmullb.s8 q4, q4, q5\n\tvadd.i16 q6, q6, q4\n\t"                              \
  "vldrb.u8 q4, [%[" Y "], #" Y_AT "]\n\tvmullt.s8 q4, q4, q5\n\tvadd.i16 q7, q7, q4\n\t" WIDEN
#define SCALE(Q, MULTIPLIER, AWAY, SHIFT)                                           \
  "vldrw.u32 q4, [%[k], #" MULTIPLIER "]\n\tvqrdmulh.s32 " Q ", " Q ", q4\n\t" AWAY \
  "vldrw.u32 q4, [%[k], #" SHIFT "]\n\tvrshl.s32 " Q ", " Q ", q4\n\t"
#define AWAY(Q) "vshr.s32 q4, " Q ", #31\n\tvadd.i32 " Q ", " Q ", q4\n\t"

// The sums of a pixel, from three rows of the ring.
#define SUMS                                                                              \
  "vldrw.u32 q0, [%[k]]\n\tvldrw.u32 q1, [%[k], #16]\n\t"                                 \
  "vldrw.u32 q2, [%[k], #32]\n\tvldrw.u32 q3, [%[k], #48]\n\t" TAPS_2(                    \
      "r0", "0", "-64", "r0", "16", "-48") TAPS_2("r0", "32", "-32", "r1", "0", "-16")    \
      TAPS_2("r1", "16", "0", "r1", "32", "16") TAPS_2("r2", "0", "32", "r2", "16", "48") \
          TAP("r2", "32", "64") WIDEN

// Scaled as in narrow.
#define NARROW \
  SCALE("q0", "64", AWAY("q0"), "128") SCALE("q1", "80", AWAY("q1"), "144")                   \
  SCALE("q2", "96", AWAY("q2"), "160") SCALE("q3", "112", AWAY("q3"), "176")                  \
  "vqmovnb.s32 q0, q0\n\tvqmovnt.s32 q0, q1\n\tvqmovnb.s32 q2, q2\n\tvqmovnt.s32 q2, q3\n\t"  \
  "vqadd.s16 q0, q0, %[zero_point]\n\tvqadd.s16 q2, q2, %[zero_point]\n\t"                   \
  "vqmovnb.s16 q0, q0\n\tvqmovnt.s16 q0, q2\n\t"                                             \
  "vdup.8 q4, %[minimum]\n\tvmax.s8 q0, q0, q4\n\tvdup.8 q4, %[maximum]\n\tvmin.s8 q0, q0, q4\n\t"

// The same for a zero point of -128 and the whole range, as behind a ReLU. All that is negative
// saturates to that zero point, so a tie below zero may go either way; VQMOVUN saturates to [0,
// 255].
#define NARROW_LOWEST \
  SCALE("q0", "64", "", "128") SCALE("q1", "80", "", "144") SCALE("q2", "96", "", "160")      \
  SCALE("q3", "112", "", "176")                                                               \
  "vqmovnb.s32 q0, q0\n\tvqmovnt.s32 q0, q1\n\tvqmovnb.s32 q2, q2\n\tvqmovnt.s32 q2, q3\n\t"  \
  "vqmovunb.s16 q0, q0\n\tvqmovunt.s16 q0, q2\n\tvadd.i8 q0, q0, %[zero_point]\n\t"

#define ROW(NARROW_SUMS)                                                                       \
  __asm__ volatile(                                                                            \
      "vmsr p0, %[lanes]\n\t"                                                                  \
      "1:\n\t" SUMS NARROW_SUMS                                                                \
      "vpst\n\tvstrbt.8 q0, [%[output]]\n\tadd %[output], %[output_step]\n\t"                  \
      "add %[r0], %[step]\n\tadd %[r1], %[step]\n\tadd %[r2], %[step]\n\t"                     \
      "le %[left], 1b\n\t"                                                                     \
      : [r0] "+r"(r0), [r1] "+r"(r1), [r2] "+r"(r2), [output] "+r"(output), [left] "+r"(left)  \
      : [w] "r"(weight + 4 * LANES), [k] "r"(constants), [step] "r"(params->stride_w * LANES), \
        [output_step] "r"(dims->input_c), [zero_point] "r"(params->output_zero_point),         \
        [minimum] "r"(params->activation_min), [maximum] "r"(params->activation_max),          \
        [lanes] "r"((uint32_t)lanes)                                                           \
      : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory")

// A row of the output, 3x3 without dilation, on three rows of the ring. In assembly it takes 139
// instructions a pixel, from C 158: GCC moves addresses to registers that it does not have. Behind
// a ReLU it takes 126. Not inlined: no function keeps VPR, and a list of what is overwritten cannot
// name it for clang.
static __attribute__((noinline)) void convolve_row_3x3(const pl_depthwise_conv2d_params *params,
                                                       const pl_depthwise_conv2d_dims *dims,
                                                       int32_t windows, const int8_t *const rows[3],
                                                       const int8_t *weight,
                                                       const int32_t *constants, mve_pred16_t lanes,
                                                       // NOLINTNEXTLINE: assembly writes there
                                                       int8_t *output) {
  const int8_t *r0 = rows[0];
  const int8_t *r1 = rows[1];
  const int8_t *r2 = rows[2];
  register int32_t left __asm__("lr") = windows;
  if (params->output_zero_point == INT8_MIN && params->activation_min == INT8_MIN &&
      params->activation_max == INT8_MAX) {
    ROW(NARROW_LOWEST);
  } else {
    ROW(NARROW);
  }
}

// A row of the output whose first row of the image is in a slot, given in bytes.
static __attribute__((noinline)) void convolve_row(const pl_depthwise_conv2d_params *params,
                                                   const pl_depthwise_conv2d_dims *dims,
                                                   const ring *from, int32_t slot,
                                                   const int8_t *weight, const int32_t *constants,
                                                   mve_pred16_t lanes, int8_t *output) {
  const stage to = stage_of(params);
  const int32_t tap_step = params->dilation_w * LANES;
  const int32_t pairs = dims->kernel_w / 2;
  const int32_t odd = dims->kernel_w & 1;
  const int32_t row_step = params->dilation_h * from->row_bytes;
  const int32_t ring_bytes = from->slots * from->row_bytes;
  const int8_t *column = from->rows;
  for (int32_t left = from->windows; left > 0; --left) {
    const int8_t *w = weight;
    const int32_t *k = constants;
    RENEW(k);
    int32_t at = slot;
    sums s = begin(k);
    for (int32_t ky = dims->kernel_h; ky > 0; --ky) {
      const int8_t *x = column + at;
      for (int32_t pair = pairs; pair > 0; --pair) {
        add_2_taps(&s, x, x + tap_step, w);
        x += 2 * tap_step;
        w += 2 * LANES;
      }
      if (odd) {
        add_tap(&s, x, w);
        w += LANES;
      }
      at += row_step;
      if (at >= ring_bytes) at -= ring_bytes;
    }
    vstrbq_p_s8(output, narrow(&to, s, k + LANES), lanes);
    column += params->stride_w * LANES;
    output += dims->input_c;
  }
}

static inline int8_t *fill(int8_t *to, int32_t columns, int8x16_t value) {
  for (; columns > 0; --columns) {
    vstrbq_s8(to, value);
    to += LANES;
  }
  return to;
}

// Copies 16 channels of a row of the input to the columns that are inside it.
static inline void copy_row(const int8_t *from, int32_t step, int32_t columns, mve_pred16_t lanes,
                            int8_t *to) {
  if (lanes == UINT16_MAX) {
    for (; columns > 0; --columns) {
      vstrbq_s8(to, vldrbq_s8(from));
      from += step;
      to += LANES;
    }
    return;
  }
  for (; columns > 0; --columns) {
    vstrbq_s8(to, vldrbq_z_s8(from, lanes));
    from += step;
    to += LANES;
  }
}

// Sixteen channels of a part of an image, fewer at the end; `image` is at its first column that is
// inside, `output` at its first window. Padding on the left and on the right is in the ring
// already.
static void convolve(const pl_depthwise_conv2d_params *params, const pl_depthwise_conv2d_dims *dims,
                     const ring *from, const part *of, const int8_t *weight,
                     const int32_t *constants, mve_pred16_t lanes, const int8_t *image,
                     int8_t *output) {
  const int is_3x3 = dims->kernel_h == 3 && dims->kernel_w == 3 && params->dilation_h == 1 &&
                     params->dilation_w == 1;
  const int32_t input_row = dims->input_w * dims->input_c;
  const int32_t ring_bytes = from->slots * from->row_bytes;
  int32_t next_y = of->y * params->stride_h - params->pad_top;  // to be copied, to next_slot
  int32_t next_slot = 0;                                        // in bytes
  for (int32_t oy = of->y; oy < of->y + of->rows; ++oy) {
    const int32_t y = oy * params->stride_h - params->pad_top;
    for (; next_y < y + from->slots; ++next_y) {
      int8_t *to = from->rows + next_slot + from->inside;
      if (next_y >= 0 && next_y < dims->input_h) {
        if (next_y >= y)
          copy_row(image + next_y * input_row, dims->input_c, from->columns, lanes, to);
      } else {
        (void)fill(to, from->columns, from->padding);
      }
      next_slot += from->row_bytes;
      if (next_slot == ring_bytes) next_slot = 0;
    }
    // All slots are in use: the first row of the windows is in the one that is next.
    const int32_t first = next_slot;
    if (is_3x3) {
      const int32_t second = first + from->row_bytes == ring_bytes ? 0 : first + from->row_bytes;
      const int32_t third = second + from->row_bytes == ring_bytes ? 0 : second + from->row_bytes;
      const int8_t *const rows[] = {from->rows + first, from->rows + second, from->rows + third};
      convolve_row_3x3(params, dims, from->windows, rows, weight, constants, lanes, output);
    } else {
      convolve_row(params, dims, from, first, weight, constants, lanes, output);
    }
    output += dims->output_w * dims->input_c;
  }
}

// Columns of the padded image that so many windows of a row have.
static int32_t columns_of(const pl_depthwise_conv2d_params *params,
                          const pl_depthwise_conv2d_dims *dims, int32_t windows) {
  return (windows - 1) * params->stride_w + (dims->kernel_w - 1) * params->dilation_w + 1;
}

// All channels of a part.
static void convolve_part(const pl_depthwise_conv2d_params *params,
                          const pl_depthwise_conv2d_dims *dims,
                          const pl_depthwise_conv2d_data *data, int8_t *scratch, const part *of,
                          const int8_t *image, int8_t *output) {
  const int32_t width = columns_of(params, dims, of->columns);
  const int32_t x = of->x * params->stride_w - params->pad_left;
  const int32_t outside = x < 0 ? -x : 0;
  const int32_t left = outside < width ? outside : width;
  const int32_t begin = x < 0 ? 0 : x < dims->input_w ? x : dims->input_w;
  const int32_t inside = dims->input_w - begin;
  const int32_t columns = width - left < inside ? width - left : inside;
  const ring from = {
      .rows = scratch,
      .slots = (dims->kernel_h - 1) * params->dilation_h + 1,
      .row_bytes = width * LANES,
      .inside = left * LANES,
      .columns = columns,
      .windows = of->columns,
      .padding = vdupq_n_s8((int8_t)params->input_zero_point),
  };
  int8_t *row = from.rows;
  for (int32_t slot = 0; slot < from.slots; ++slot) {
    row = fill(row, left, from.padding) + columns * LANES;
    row = fill(row, width - left - columns, from.padding);
  }
  const int8_t *weight = data->weight;
  const int32_t *constants = data->bias;
  image += begin * dims->input_c;
  output += (of->y * dims->output_w + of->x) * dims->input_c;
  for (int32_t channel = 0; channel < dims->input_c; channel += LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)(dims->input_c - channel));
    convolve(params, dims, &from, of, weight, constants, lanes, image + channel, output + channel);
    weight += dims->kernel_h * dims->kernel_w * LANES;
    constants += 3 * LANES;
  }
}

pl_status pl_depthwise_by_16_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                const pl_depthwise_conv2d_dims *dims,
                                const pl_depthwise_conv2d_data *data) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t slots = (dims->kernel_h - 1) * params->dilation_h + 1;
  const int32_t more = dims->scratch_bytes / (slots * LANES) - columns_of(params, dims, 1);
  if (more < 0) return PL_ERROR_SCRATCH_SIZE;
  const int32_t fitting = more / params->stride_w + 1;
  const int is_whole = fitting >= dims->output_w;
  part of = {0, is_whole ? dims->output_h : 1, 0, is_whole ? dims->output_w : fitting};
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (of.y = 0; of.y < dims->output_h; of.y += of.rows) {
      for (of.x = 0; of.x < dims->output_w; of.x += fitting) {
        const int32_t left = dims->output_w - of.x;
        of.columns = left < fitting ? left : fitting;
        convolve_part(params, dims, data, ctx->scratch, &of, image, output);
      }
    }
    image += dims->input_h * dims->input_w * dims->input_c;
    output += dims->output_h * dims->output_w * dims->input_c;
  }
  return PL_OK;
}
