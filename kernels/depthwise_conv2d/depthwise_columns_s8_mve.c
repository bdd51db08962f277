// SPDX-License-Identifier: Apache-2.0
// Up to sixteen channels at a time are copied to scratch as separate planes. For each row of
// windows a plane has their columns, each as its kernel_h bytes. A window is then one run of bytes.
// The sum of its products takes one VMLADAV per sixteen bytes, against weights that are 0 after the
// window. Four channels of a pixel are narrowed and stored together.
//
// Columns of windows dilated in width are copied for each window separately. So are windows of one
// column with other columns between them.
#include "kernels/common/optimized.h"

#include <arm_mve.h>

#include "kernels/common/clamp_s8.h"
#include "kernels/depthwise_conv2d/columns_mve.h"
#include "kernels/depthwise_conv2d/depthwise_columns.h"

#define LANES 16
#define FOUR 4

// Inputs of the channels of a part. The assembly relies on the offsets of the first fields.
typedef struct {
  int32x4_t right;  // shifts
  int32_t skip;     // bytes from the end of a row of windows to the next
  int32_t left;     // rows of windows
  int32_t windows;  // per row
  int32_t output_skip;
  int32_t channels;  // per output pixel
  int32_t lanes;     // channels stored together: four, or all if fewer
  const int8_t *planes;
  int32_t plane;  // bytes
  int32_t step;   // from window to window
  int32_t rows;   // of windows
  int32_t zero_point;
  int32_t taps;
} job;
_Static_assert(__builtin_offsetof(job, right) == 0 && __builtin_offsetof(job, skip) == 16 &&
                   __builtin_offsetof(job, left) == 20 && __builtin_offsetof(job, windows) == 24 &&
                   __builtin_offsetof(job, output_skip) == 28 &&
                   __builtin_offsetof(job, channels) == 32 && __builtin_offsetof(job, lanes) == 36,
               "as in SCALE and WINDOWS");

// Constants of the next channels.
typedef struct {
  const int8_t *weight;
  const int32_t *factors;
  const int8_t *shift;
} constants;

// A window of four channels: planes at x0 to x3, each with its step to the next window. q7 has the
// taps, then the sums s0 to s3 as lanes 0 to 3. lr counts the windows of a row.
//
// GCC moves sums to lanes through the stack, and spills constants. C with intrinsics takes 24
// instructions for a window at a step of 3, and 31 at any step. This assembly takes 19 and 28.
#define SUM(X, W, SUM, NEXT) \
  "vldrb.u8 q7, [%[" X "]]" NEXT(X) "\n\tvmladav.s8 %[" SUM "], q7, %q[" W "]\n\t"
#define NEXT_3(X) ", #3"
#define NEXT_6(X) ", #6"
#define NEXT(X) "\n\tadd %[" X "], %[step]"
#define STORE "vstrb.32 q7, [%[y]]\n\tadd %[y], %[channels]\n\t"
#define LANES_LOADED "ldr %[s0], [%[of], #36]\n\tvctp.32 %[s0]\n\t"
#define STORE_LANES "vpst\n\tvstrbt.32 q7, [%[y]]\n\tldr %[s0], [%[of], #32]\n\tadd %[y], %[s0]\n\t"
// requantize.h for shifts below 0. With a zero point of -128 all negative values saturate. A tie
// below zero may go either way, and needs no correction.
#define SCALE_LOWEST "vqrdmulh.s32 q7, q7, %q[multiplier]\n\tvrshl.s32 q7, q7, %q[right]\n\t"
#define SCALE                                                                             \
  "vqrdmulh.s32 q7, q7, %q[multiplier]\n\tmov %[s0], #1\n\tvqdmlah.s32 q7, q7, %[s0]\n\t" \
  "vrshl.s32 q7, q7, %q[right]\n\t"
#define WINDOWS(BEGIN, NEXT, SCALE, STORE, ...) \
  __asm__ volatile(                                                                              \
      BEGIN "1:\n\tldr lr, [%[of], #24]\n\t"                                                 \
      "2:\n\t" SUM("x0", "w0", "s0", NEXT) SUM("x1", "w1", "s1", NEXT)                           \
          SUM("x2", "w2", "s2", NEXT) SUM("x3", "w3", "s3", NEXT)                                \
      "vmov d14, %[s0], %[s1]\n\tvmov d15, %[s2], %[s3]\n\t"                   \
      "vadd.i32 q7, q7, %q[bias]\n\t" SCALE                                                      \
      "vqmovnb.s32 q7, q7\n\tvqadd.s16 q7, q7, %[zero_point]\n\tvqmovnb.s16 q7, q7\n\t"          \
      STORE "le lr, 2b\n\t"                            \
      "ldrd %[s0], %[s2], [%[of], #16]\n\t"                                               \
      "add %[x0], %[s0]\n\tadd %[x1], %[s0]\n\tadd %[x2], %[s0]\n\tadd %[x3], %[s0]\n\t"         \
      "ldr %[s0], [%[of], #28]\n\tadd %[y], %[s0]\n\t"                             \
      "subs %[s2], #1\n\tstr %[s2], [%[of], #20]\n\tbne 1b\n\t"                           \
      : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [y] "+l"(y),                 \
        [s0] "=&Te"(s0), [s1] "=&Te"(s1), [s2] "=&Te"(s2), [s3] "=&Te"(s3)  \
      : [of] "r"(of), __VA_ARGS__, \
        [zero_point] "r"(of->zero_point), [w0] "w"(w0), [w1] "w"(w1), [w2] "w"(w2),              \
        [w3] "w"(w3), [bias] "w"(bias), [multiplier] "w"(multiplier), [right] "w"(right) \
      : "q7", "lr", "cc", "memory")

static inline int32_t at_least_0(int32_t a) { return a > 0 ? a : 0; }

// Four channels in windows of up to sixteen taps, with their weights kept in registers. Not
// inlined: the assembly needs all registers. No function keeps VPR, and a clobber list cannot name
// it in clang.
static __attribute__((noinline)) void convolve_four(
    job *of, const int8_t *x0, const int8_t *weight, const int32_t *factors,
    int8_t *y) {  // NOLINT(readability-non-const-parameter)
  const mve_pred16_t taps = vctp8q((uint32_t)of->taps);
  const int8x16_t w0 = vldrbq_z_s8(weight, taps);
  weight += of->taps;
  const int8x16_t w1 = vldrbq_z_s8(weight, taps);
  weight += of->taps;
  const int8x16_t w2 = vldrbq_z_s8(weight, taps);
  const int8x16_t w3 = vldrbq_z_s8(weight + of->taps, taps);
  const int32x4_t bias = vldrwq_s32(factors);
  const int32x4_t multiplier = vldrwq_s32(factors + FOUR);
  const int32x4_t right = of->right;
  const int8_t *x1 = x0 + of->plane;
  const int8_t *x2 = x1 + of->plane;
  const int8_t *x3 = x2 + of->plane;
  int32_t s0;
  int32_t s1;
  int32_t s2;
  int32_t s3;
  const int is_lowest = of->zero_point == INT8_MIN && of->lanes == FOUR;
  if (is_lowest && of->step == 3) {
    WINDOWS("", NEXT_3, SCALE_LOWEST, STORE, [channels] "r"(of->channels));
  } else if (is_lowest && of->step == 6) {
    WINDOWS("", NEXT_6, SCALE_LOWEST, STORE, [channels] "r"(of->channels));
  } else {
    WINDOWS(LANES_LOADED, NEXT, SCALE, STORE_LANES, [step] "r"(of->step));
  }
}

// Channels from one to another, the planes and the output at `first`.
static inline void convolve_small(job *of, constants *next, int32_t from, int32_t to, int32_t first,
                                  int8_t *output) {
  for (int32_t i = from; i < to; i += FOUR) {
    const int32_t channel = smaller(i, at_least_0(of->channels - FOUR)) - first;
    of->right = vldrbq_s32(next->shift);
    of->left = of->rows;
    convolve_four(of, of->planes + channel * of->plane, next->weight, next->factors,
                  output + channel);
    next->weight += FOUR * of->taps;
    next->factors += 2 * FOUR;
    next->shift += FOUR;
  }
}

// The sum of a window of more than sixteen taps, `tail` of them in the last vector. Bytes after the
// window meet weights of 0.
PL_INLINE int32_t window_sum(const int8_t *x, const int8_t *weight, int32_t vectors,
                             mve_pred16_t tail) {
  int32_t sum = 0;
  for (; vectors > 0; --vectors) {
    sum = vmladavaq_s8(sum, vldrbq_s8(x), vldrbq_s8(weight));
    x += LANES;
    weight += LANES;
  }
  return vmladavaq_s8(sum, vldrbq_s8(x), vldrbq_z_s8(weight, tail));
}

PL_INLINE void convolve_vectors(const job *of, constants *next, int32_t from, int32_t to,
                                int32_t first, int8_t *output, int32_t vectors) {
  const mve_pred16_t tail = vctp8q((uint32_t)(of->taps - vectors * LANES));
  const mve_pred16_t lanes = vctp32q((uint32_t)of->lanes);
  const int32_t plane = of->plane;
  const int32_t taps = of->taps;
  for (int32_t i = from; i < to; i += FOUR) {
    const int32_t channel = smaller(i, at_least_0(of->channels - FOUR)) - first;
    const int8_t *x = of->planes + channel * plane;
    int8_t *y = output + channel;
    const int8_t *const w = next->weight;
    const int32_t *const factors = next->factors;
    const int32x4_t right = vldrbq_s32(next->shift);
    for (int32_t row = of->rows; row > 0; --row) {
      for (int32_t left = of->windows; left > 0; --left) {
        int32x4_t sum = vdupq_n_s32(0);
        sum = vsetq_lane_s32(window_sum(x, w, vectors, tail), sum, 0);
        sum = vsetq_lane_s32(window_sum(x + plane, w + taps, vectors, tail), sum, 1);
        sum = vsetq_lane_s32(window_sum(x + 2 * plane, w + 2 * taps, vectors, tail), sum, 2);
        sum = vsetq_lane_s32(window_sum(x + 3 * plane, w + 3 * taps, vectors, tail), sum, 3);
        sum = vqrdmulhq_s32(vaddq_s32(sum, vldrwq_s32(factors)), vldrwq_s32(factors + FOUR));
        sum = vrshlq_s32(vaddq_s32(sum, vshrq_n_s32(sum, 31)), right);
        const int16x8_t high = vqmovnbq_s32(vuninitializedq_s16(), sum);
        const int8x16_t result =
            vqmovnbq_s16(vuninitializedq_s8(), vqaddq_n_s16(high, (int16_t)of->zero_point));
        vstrbq_p_s32(y, vreinterpretq_s32_s8(result), lanes);
        x += of->step;
        y += of->channels;
      }
      x += of->skip;
      y += of->output_skip;
    }
    *next = (constants){w + FOUR * taps, factors + 2 * FOUR, next->shift + FOUR};
  }
}

// The same for larger windows; 5x5 is unrolled.
static __attribute__((noinline)) void convolve_large(const job *of, constants *next, int32_t from,
                                                     int32_t to, int32_t first, int8_t *output) {
  if (of->taps <= 2 * LANES) {
    convolve_vectors(of, next, from, to, first, output, 1);
  } else {
    convolve_vectors(of, next, from, to, first, output, (of->taps - 1) / LANES);
  }
}

static void fill(int8_t *to, int32_t bytes, int8_t value) {
  const int8x16_t values = vdupq_n_s8(value);
  for (; bytes > 0; bytes -= LANES) {
    vstrbq_p_s8(to, values, vctp8q((uint32_t)bytes));
    to += LANES;
  }
}

static inline int32_t planes_of(int32_t channels) {
  return channels < FOUR ? FOUR : smaller(channels, PLANES);
}

// All channels of a part.
PL_INLINE void convolve_part(const pl_depthwise_columns_params *params,
                             const pl_depthwise_columns_dims *dims,
                             const pl_depthwise_columns_data *data, const part *of, int32_t oy,
                             int32_t ox, const int8_t *image, int8_t *output, run *runs,
                             int8_t *planes, int is_large) {
  const int32_t channels = dims->input_c * dims->repeats;
  const int32_t taps = dims->kernel_h * dims->kernel_w;
  const int32_t step =
      dims->kernel_h * (is_dense(params, dims) ? params->stride_w : dims->kernel_w);
  job of_channels = {
      .planes = planes,
      .plane = of->plane,
      .step = step,
      .skip = of->row - of->windows * step,
      .rows = of->rows,
      .windows = of->windows,
      .channels = channels,
      .lanes = smaller(channels, FOUR),
      .output_skip = (dims->output_w - of->windows) * channels,
      .zero_point = params->output_zero_point,
      .taps = taps,
  };
  const copies pixels = copies_of(params, dims, of, oy, ox, runs);
  constants next = {data->weight, data->factors, data->shift};
  for (int32_t from = 0; from < channels; from += PLANES) {
    // The last sixteen or eight may have some of those before them, again, as the last four may.
    const int32_t together = channels - from > PLANES / 2 ? PLANES : PLANES / 2;
    const int32_t first = smaller(from, at_least_0(channels - together));
    const int32_t to = smaller(from + PLANES, channels);
    if (dims->repeats == 1) {
      copy(&pixels, image + first, planes, channels - first);
    } else {
      copy_repeated(&pixels, image, planes, first, dims->repeats, channels - first);
    }
    if (is_large) {
      convolve_large(&of_channels, &next, from, to, first, output + first);
    } else {
      convolve_small(&of_channels, &next, from, to, first, output + first);
    }
  }
}

// Number of windows of a row that fit into scratch, 0 to dims->output_w.
static int32_t fitting_windows(const pl_depthwise_columns_dims *dims, int32_t step,
                               int32_t columns) {
  const int32_t more = columns - dims->kernel_w;
  return more < 0 ? 0 : smaller(more / step + 1, dims->output_w);
}

PL_INLINE pl_status convolve(const pl_context *ctx, const pl_depthwise_columns_params *params,
                             const pl_depthwise_columns_dims *dims,
                             const pl_depthwise_columns_data *data, int is_large) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t channels = dims->input_c * dims->repeats;
  const int dense = is_dense(params, dims);
  const int32_t step = dense ? params->stride_w : dims->kernel_w;
  // Up to 15 bytes after the last window are read too.
  const int32_t runs = dims->kernel_h * (dense ? 1 : dims->kernel_w);
  const int32_t room = (dims->scratch_bytes - runs * (int32_t)sizeof(run) - LANES) /
                       (planes_of(channels) * dims->kernel_h);
  const int32_t windows = fitting_windows(dims, step, room);
  if (windows < 1) return PL_ERROR_SCRATCH_SIZE;
  const int32_t columns = (windows - 1) * step + dims->kernel_w;
  const int32_t most = windows < dims->output_w ? 1 : smaller(room / columns, dims->output_h);
  part of = {.columns = columns, .row = columns * dims->kernel_h};
  const int8_t *image = data->input;
  int8_t *output = data->output;
  int8_t *const planes = (int8_t *)ctx->scratch + runs * (int32_t)sizeof(run);
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; oy += most) {
      of.rows = smaller(most, dims->output_h - oy);
      of.plane = of.rows * of.row;
      for (int32_t ox = 0; ox < dims->output_w; ox += windows) {
        of.windows = smaller(windows, dims->output_w - ox);
        // Padding is at the same positions for all channels, and next to rows inside.
        const int32_t top = oy * params->stride_h - params->pad_top;
        const int32_t bottom =
            top + (of.rows - 1) * params->stride_h + (dims->kernel_h - 1) * params->dilation_h;
        if (windows < dims->output_w || oy == 0 || of.rows < most || top < 0 ||
            bottom >= dims->input_h) {
          fill(planes, planes_of(channels) * of.plane, (int8_t)params->input_zero_point);
        }
        convolve_part(params, dims, data, &of, oy, ox, image,
                      output + (oy * dims->output_w + ox) * channels, ctx->scratch, planes,
                      is_large);
      }
    }
    image += dims->input_h * dims->input_w * dims->input_c;
    output += dims->output_h * dims->output_w * channels;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, dims->batches * dims->output_h * dims->output_w * channels,
                params->activation_min, params->activation_max);
  }
  return PL_OK;
}

pl_status pl_depthwise_columns_s8(const pl_context *ctx, const pl_depthwise_columns_params *params,
                                  const pl_depthwise_columns_dims *dims,
                                  const pl_depthwise_columns_data *data) {
  return convolve(ctx, params, dims, data, 0);
}

pl_status pl_depthwise_large_columns_s8(const pl_context *ctx,
                                        const pl_depthwise_columns_params *params,
                                        const pl_depthwise_columns_dims *dims,
                                        const pl_depthwise_columns_data *data) {
  return convolve(ctx, params, dims, data, 1);
}
