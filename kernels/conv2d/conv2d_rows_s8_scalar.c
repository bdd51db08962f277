// SPDX-License-Identifier: Apache-2.0
// Four windows of a row at a time, channel by channel. A weight is loaded once for four products,
// and the factors of a channel once for a row.
//
// Rows of windows that reach into padding are first copied to scratch. The padding is already
// there, at the same positions for all rows. Groups of several channels are also copied, one by
// one. The taps of a row are then one run. If only two or three windows are left, the last one
// fills the missing places.
#include "kernels/common/optimized.h"

#include "kernels/common/clamp_s8.h"
#include "kernels/common/copy.h"
#include "kernels/common/requantize.h"
#include "kernels/conv2d/conv2d.h"

#define FOUR 4

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// The windows of a row of the output, in the image or in scratch; steps in bytes.
typedef struct {
  int32_t runs;
  int32_t run;  // values of a group in a row of a window
  int32_t value_step;
  int32_t run_gap;  // from the end of a run to the next
  int32_t step;     // from window to window
  int32_t third;    // from the second of four windows to the third and fourth, if there are any
  int32_t fourth;
  // Same fields in steps of three values. A run may be three values; then all runs are one.
  int32_t runs_of_threes;
  int32_t threes;
  int32_t threes_gap;
  int32_t rest;
} windows;

typedef struct {
  int32_t sum0, sum1, sum2, sum3;
} four;

#if __ARM_ARCH_ISA_THUMB == 2
#define PRODUCT(AT, SUM) "ldrsb %[v], [%[x]" AT "\n\tmla %[" SUM "], %[w], %[v], %[" SUM "]\n\t"
#define PRODUCTS                                                                         \
  "ldrsb %[w], [%[at]], #1\n\t" PRODUCT(", %[back]]", "s0") PRODUCT(", %[third]]", "s2") \
      PRODUCT(", %[fourth]]", "s3")
#define STEPS [back] "r"(back), [third] "r"(third), [fourth] "r"(fourth)
#define SUMS                                                                          \
  [s0] "+r"(of->sum0), [s1] "+r"(of->sum1), [s2] "+r"(of->sum2), [s3] "+r"(of->sum3), \
      [x] "+r"(*x), [at] "+r"(*weight), [w] "=&r"(w), [v] "=&r"(v)

// One tap of four windows, in nine or ten instructions; x points into the second window. GCC would
// take two pointers to the windows and add to both. value_step is a constant if it is 1.
PL_INLINE void multiply(four *of, const int8_t **x, const int8_t **weight, int32_t back,
                        int32_t third, int32_t fourth, int32_t value_step) {
  int32_t w, v;
  if (__builtin_constant_p(value_step)) {
    __asm__(PRODUCTS PRODUCT("], #1", "s1") : SUMS : STEPS : "memory");
  } else {
    __asm__(PRODUCTS PRODUCT("]", "s1") "add %[x], %[x], %[value_step]"
            : SUMS
            : STEPS, [value_step] "r"(value_step)
            : "memory");
  }
}

// Adds to the sums of four windows.
PL_INLINE void multiply_runs(const windows *of, four *sums, const int8_t *x, const int8_t *w,
                             int32_t value_step) {
  const int32_t back = -of->step;
  const int32_t third = of->third;
  const int32_t fourth = of->fourth;
  const int32_t threes_gap = of->threes_gap;
  x += of->step;
  for (int32_t run = of->runs_of_threes; run > 0; --run) {
    for (int32_t left = of->threes; left > 0; --left) {
      multiply(sums, &x, &w, back, third, fourth, value_step);
      multiply(sums, &x, &w, back, third, fourth, value_step);
      multiply(sums, &x, &w, back, third, fourth, value_step);
      x += threes_gap;
    }
    for (int32_t left = of->rest; left > 0; --left) {
      multiply(sums, &x, &w, back, third, fourth, value_step);
    }
    x += of->run_gap;
  }
}

static inline void multiply_windows(const windows *of, four *sums, const int8_t *x,
                                    const int8_t *w) {
  if (of->value_step == 1) {
    multiply_runs(of, sums, x, w, 1);
  } else {
    multiply_runs(of, sums, x, w, of->value_step);
  }
}
#else
static inline void multiply_windows(const windows *of, four *sums, const int8_t *x,
                                    const int8_t *w) {
  const int32_t step = of->step;
  const int32_t third = step + of->third;
  const int32_t value_step = of->value_step;
  const int8_t *fourth = x + step + of->fourth;
  for (int32_t run = of->runs; run > 0; --run) {
    for (int32_t left = of->run; left > 0; --left) {
      const int32_t weight = *w++;
      sums->sum0 += x[0] * weight;
      sums->sum1 += x[step] * weight;
      sums->sum2 += x[third] * weight;
      sums->sum3 += *fourth * weight;
      x += value_step;
      fourth += value_step;
    }
    x += of->run_gap;
    fourth += of->run_gap;
  }
}
#endif

// Start value of an output channel's sums, and their requantization.
typedef struct {
  int32_t bias;
  int32_t multiplier;
  int32_t right;
  int32_t twice_zero_point_and_1;
  int32_t y_step;
  int32_t y_third;  // from the second of four windows to the third, and on to the fourth
  int32_t y_fourth;
} channel;

static inline int8_t narrow(const channel *of, int32_t sum) {
  const int32_t value =
      pl_requantize_down(sum, of->multiplier, of->right, of->twice_zero_point_and_1);
  return (int8_t)PL_SATURATE(value, 8);
}

// Four windows. A function of its own, so that all registers are free for the loops over taps.
static __attribute__((noinline)) void convolve_4(const windows *of, const channel *result,
                                                 const int8_t *x, const int8_t *w, int8_t *y) {
  const int32_t bias = result->bias;
  four sums = {bias, bias, bias, bias};
  multiply_windows(of, &sums, x, w);
  const channel last = *result;
  y[0] = narrow(&last, sums.sum0);
  y += last.y_step;
  y[0] = narrow(&last, sums.sum1);
  y += last.y_third;
  y[0] = narrow(&last, sums.sum2);
  y += last.y_fourth;
  y[0] = narrow(&last, sums.sum3);
}

static void convolve_1(const windows *of, const channel *result, const int8_t *x, const int8_t *w,
                       int8_t *y) {
  int32_t sum = result->bias;
  for (int32_t run = of->runs; run > 0; --run) {
    for (int32_t left = of->run; left > 0; --left) {
      sum += *x * *w++;
      x += of->value_step;
    }
    x += of->run_gap;
  }
  *y = narrow(result, sum);
}

// One channel of a row of `count` windows.
static inline void convolve_channel(const windows *of, const channel *result, int32_t count,
                                    const int8_t *x, const int8_t *w, int8_t *y) {
  const int32_t last = count < FOUR ? 0 : count - FOUR;
  int32_t i = 0;
  // The last four may have some of the four before them, again.
  for (; i < count - 1; i += FOUR) {
    const int32_t at = smaller(i, last);
    convolve_4(of, result, x + at * of->step, w, y + at * result->y_step);
  }
  if (i < count) convolve_1(of, result, x + i * of->step, w, y + i * result->y_step);
}

// Rows of the input as they lie in scratch.
typedef struct {
  int32_t count;
  int32_t y_step;
  int32_t inside;  // pixels of the image
  int32_t begin;   // bytes before them
  int32_t tap_c;   // channels of a pixel
  int32_t bytes;   // of a row
} rows;

// The pixels of the image, of rows from y on.
static void gather(const rows *of, const pl_conv2d_params *params, const pl_conv2d_dims *dims,
                   const int8_t *image, int32_t y, int8_t *to) {
  const int32_t channels = dims->input_c;
  to += of->begin;
  for (int32_t left = of->count; left > 0; --left) {
    const int8_t *from = image + y * dims->input_w * channels;
    if (y < 0 || y >= dims->input_h) {
      pl_fill_bytes(to, (int8_t)params->input_zero_point, of->inside * of->tap_c);
    } else if (of->tap_c == channels) {
      pl_copy_bytes(to, from, of->inside * channels);
    } else {
      int8_t *at = to;
      for (int32_t x = of->inside; x > 0; --x, from += channels) {
        for (int32_t c = 0; c < of->tap_c; ++c) *at++ = from[c];
      }
    }
    y += of->y_step;
    to += of->bytes;
  }
}

pl_status pl_conv2d_rows_s8(const pl_context *ctx, const pl_conv2d_params *params,
                            const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  const int32_t channels = dims->input_c;
  const int32_t tap_c = channels / dims->groups;
  // All windows of a row are one window of that width, with all channels or those of a group.
  const int32_t width =
      (dims->output_w - 1) * params->stride_w + (dims->kernel_w - 1) * params->dilation_w + 1;
  const int32_t inside = smaller(width - params->pad_left, dims->input_w);
  const int32_t row_c = tap_c == 1 ? channels : tap_c;
  const rows gathered = {
      .count = dims->kernel_h,
      .y_step = params->dilation_h,
      .inside = inside < 0 ? 0 : inside,
      .begin = params->pad_left * row_c,
      .tap_c = row_c,
      .bytes = width * row_c,
  };
  const int32_t scratch = dims->gathered * dims->kernel_h * gathered.bytes;
  if (ctx->scratch_size < (uint32_t)scratch) return PL_ERROR_SCRATCH_SIZE;
  if (scratch > 0) pl_fill_bytes(ctx->scratch, (int8_t)params->input_zero_point, scratch);
  const int32_t image_row = dims->input_w * channels;
  const int32_t value_step = tap_c == 1 ? params->dilation_w * channels : 1;
  const int32_t run = dims->kernel_w * tap_c;
  const int32_t run_gap =
      (dims->gathered ? gathered.bytes : params->dilation_h * image_row) - run * value_step;
  const int is_three = run == 3;
  const int has_third = dims->output_w > 2;
  const int has_fourth = dims->output_w > 3;
  const int32_t step = params->stride_w * row_c;
  const windows of = {
      .runs = dims->kernel_h,
      .run = run,
      .value_step = value_step,
      .run_gap = run_gap,
      .step = step,
      .third = has_third ? step : 0,
      .fourth = has_fourth  ? 2 * step
                : has_third ? step
                            : 0,
      .runs_of_threes = is_three ? 1 : dims->kernel_h,
      .threes = is_three ? dims->kernel_h : run / 3,
      .threes_gap = is_three ? run_gap : 0,
      .rest = run % 3,
  };
  channel result = {
      .twice_zero_point_and_1 = 2 * params->output_zero_point + 1,
      .y_step = dims->output_c,
      .y_third = has_third ? dims->output_c : 0,
      .y_fourth = has_fourth ? dims->output_c : 0,
  };
  const int32_t group_c = dims->output_c / dims->groups;
  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t y = oy * params->stride_h - params->pad_top;
      const int8_t *x = ctx->scratch;
      if (!dims->gathered) x = image + y * image_row;
      const int8_t *w = data->weight;
      int32_t o = 0;
      for (int32_t c = 0; c < channels; c += tap_c) {
        if (dims->gathered && (c == 0 || tap_c > 1)) {
          gather(&gathered, params, dims, image + c, y, ctx->scratch);
        }
        for (int32_t left = group_c; left > 0; --left) {
          result.bias = data->bias[o];
          result.multiplier = data->multiplier[2 * o];
          result.right = data->multiplier[2 * o + 1];
          convolve_channel(&of, &result, dims->output_w, x, w, output + o);
          w += of.runs * of.run;
          ++o;
        }
        if (tap_c == 1) ++x;
      }
      output += dims->output_w * dims->output_c;
    }
    image += dims->input_h * image_row;
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, (int32_t)(output - data->output), params->activation_min,
                params->activation_max);
  }
  return PL_OK;
}
