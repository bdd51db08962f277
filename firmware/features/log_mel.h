// SPDX-License-Identifier: Apache-2.0
//
// Features of sound for keyword models: log-mel energies, and MFCC, their cosine transform.
//
//   #include "app/speech.h"  // of log_mel(name = "speech", ...), log_mel.bzl
//
//   static int32_t scratch[SPEECH_SCRATCH];
//   int16_t values[SPEECH_VALUES];
//   // samples: SPEECH_FRAME of them
//   status = pl_log_mel(&speech, samples, scratch, SPEECH_SCRATCH, values);
//
// All arithmetic is integer. It is bit-exact with firmware/features/log_mel.py, which computes the
// features for training:
//   - Samples times a Hann window of 15 fractional bits, padded with zeros to `size`, a
//     power of two. Each halving leaves one more fractional bit: log2(size) are dropped.
//   - A complex Fourier transform of half as many values (radix 2, decimation in time),
//     32 bits, with twiddle factors of 15 fractional bits and products rounded to
//     nearest; from it the real one.
//   - Power of each line without its lowest 12 bits; bands are triangles on the mel
//     scale of HTK, 2595 log10(1 + f/700), with weights of 15 fractional bits. 64 bits
//     hold any sum.
//   - The logarithm to base 2 with 8 fractional bits, rounded down; 0 for a power of 1
//     or less.
//   - For MFCC the orthonormal DCT-II of the bands, by cosines of 15 fractional bits,
//     rounded to nearest; the result has 6, as the first coefficient is as large as
//     eight energies.
#ifndef FIRMWARE_FEATURES_LOG_MEL_H_
#define FIRMWARE_FEATURES_LOG_MEL_H_

#include <stdint.h>

#include "kernels/common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Made by log_mel.bzl. `bands` triangles: band i has `counts[i]` weights, the first for line
// `starts[i]`, after those of the band before. `cosines` is [coefficients, bands], null for
// log-mel.
typedef struct {
  uint16_t frame;         // samples
  uint16_t size;          // of the transform
  uint16_t bands;         // 64 at most
  uint16_t coefficients;  // of MFCC, 0 for log-mel
  const int16_t *window;  // [frame]
  const int16_t *turns;   // [size / 2, 2]: cosine and sine
  const uint16_t *starts;
  const uint16_t *counts;
  const uint16_t *weights;
  const int16_t *cosines;
} pl_log_mel_tables;

// Computes the features of one frame: `samples` [frame] to `values` [bands], log2 of the energy
// with 8 fractional bits, or [coefficients] of the same unit. `scratch` has `scratch_size` words,
// at least the tables' `size`. PL_ERROR_NULL or PL_ERROR_SCRATCH_SIZE, with nothing written.
PL_MUST_USE pl_status pl_log_mel(const pl_log_mel_tables *tables, const int16_t *samples,
                                 int32_t *scratch, uint32_t scratch_size, int16_t *values);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_FEATURES_LOG_MEL_H_
