// SPDX-License-Identifier: Apache-2.0
// second_moment of int8: the sums of the values and of their squares. The zero point is subtracted
// at the end.
#ifndef KERNELS_REDUCE_SECOND_MOMENT_S8_H_
#define KERNELS_REDUCE_SECOND_MOMENT_S8_H_

#include "kernels/common/requantize.h"
#include "kernels/reduce/fold.h"
#include "kernels/reduce/second_moment.h"

// Number of squares, each at most 2^14, with a sum of at most 2^30.
#define PL_MOMENT_RUN 65536

// Adds up to PL_MOMENT_RUN values to two sums.
typedef void pl_moment_run(const int8_t *x, int32_t count, int32_t *sum, int32_t *squares);

static inline int8_t pl_moment_of_sums(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                       int32_t sum, uint64_t squares) {
  const int32_t zero_point = params->input_zero_point;
  const int32_t all = zero_point * (dims->reduced[0] * dims->reduced[1] * dims->reduced[2]);
  const int64_t more = (int64_t)zero_point * ((int64_t)all - 2 * (int64_t)sum);
  const pl_moment_sums s = {sum - all, squares + (uint64_t)more};
  const int32_t value = (int32_t)pl_second_moment(params, &s);
  return pl_narrow(pl_requantize(value, params->multiplier, params->shift),
                   params->output_zero_point, INT8_MIN, INT8_MAX);
}

static inline void pl_moment_steps(const int8_t *x, int32_t step, int32_t count, int32_t *sum,
                                   int32_t *squares) {
  int32_t total = *sum;
  int32_t of_squares = *squares;
  for (; count > 0; --count, x += step) {
    const int32_t value = *x;
    total += value;
    of_squares += value * value;
  }
  *sum = total;
  *squares = of_squares;
}

// One output; values next to each other go through `run`.
PL_INLINE int8_t pl_moment_of(const pl_reduce_params *params, const pl_reduce_dims *dims,
                              const int8_t *x, pl_moment_run *run) {
  const int32_t step = dims->reduced_stride[2];
  int32_t sum = 0;
  uint64_t squares = 0;
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; left -= PL_MOMENT_RUN) {
        const int32_t count = left < PL_MOMENT_RUN ? left : PL_MOMENT_RUN;
        int32_t of_run = 0;
        if (step == 1) {
          run(at, count, &sum, &of_run);
        } else {
          pl_moment_steps(at, step, count, &sum, &of_run);
        }
        squares += (uint32_t)of_run;
        at += count * step;
      }
    }
  }
  return pl_moment_of_sums(params, dims, sum, squares);
}

// All outputs of a row, one by one.
PL_INLINE void pl_moments_of_row(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                 const int8_t *x, int8_t *output, pl_moment_run *run) {
  for (int32_t left = dims->kept[2]; left > 0; --left, x += dims->kept_stride[2]) {
    *output++ = pl_moment_of(params, dims, x, run);
  }
}

typedef void pl_moments_row(const pl_reduce_params *params, const pl_reduce_dims *dims,
                            const int8_t *x, int8_t *output);

PL_INLINE pl_status pl_moments(const pl_reduce_params *params, const pl_reduce_dims *dims,
                               const pl_reduce_data *data, pl_moments_row *row) {
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input;
      row(params, dims, x + i * dims->kept_stride[0] + j * dims->kept_stride[1], output);
      output += dims->kept[2];
    }
  }
  return PL_OK;
}

#endif  // KERNELS_REDUCE_SECOND_MOMENT_S8_H_
