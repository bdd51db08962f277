// SPDX-License-Identifier: Apache-2.0
#include "firmware/features/log_mel.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  FRACTION = 15,
  HALF = 1 << (FRACTION - 1),
  POWER_DROPPED = 12,
  LOG_FRACTION = 8,
  MFCC_DROPPED = FRACTION + LOG_FRACTION - 6,
  MANTISSA = 31,
  MOST_BANDS = 64,
};

typedef struct {
  int32_t re;
  int32_t im;
} complex32;

static int32_t rounded(int64_t product) { return (int32_t)((product + HALF) >> FRACTION); }

// Times cosine - i sine.
static complex32 turned(complex32 z, const int16_t *turn) {
  const int64_t cosine = turn[0];
  const int64_t sine = turn[1];
  const complex32 result = {
      .re = rounded(z.re * cosine + z.im * sine),
      .im = rounded(z.im * cosine - z.re * sine),
  };
  return result;
}

static uint32_t log2_of(uint32_t power_of_two) {
  uint32_t result = 0;
  while (power_of_two >> result > 1) {
    result += 1;
  }
  return result;
}

static void reverse_bits(complex32 *z, uint32_t count) {
  uint32_t other = 0;
  for (uint32_t i = 0; i + 1 < count; ++i) {
    if (i < other) {
      const complex32 kept = z[i];
      z[i] = z[other];
      z[other] = kept;
    }
    uint32_t bit = count / 2;
    while ((other & bit) != 0) {
      other ^= bit;
      bit /= 2;
    }
    other ^= bit;
  }
}

// `turns` are those for 2 * count; every second one is used.
static void transform(complex32 *z, uint32_t count, const int16_t *turns) {
  reverse_bits(z, count);
  for (uint32_t half = 1; half < count; half *= 2) {
    const uint32_t step = count / half;
    for (uint32_t k = 0; k < half; ++k) {
      for (uint32_t i = k; i < count; i += 2 * half) {
        const complex32 odd = turned(z[i + half], turns + (size_t)2 * k * step);
        const complex32 even = z[i];
        z[i].re = even.re + odd.re;
        z[i].im = even.im + odd.im;
        z[i + half].re = even.re - odd.re;
        z[i + half].im = even.im - odd.im;
      }
    }
  }
}

// Power of line k of a real transform of 2 * count values. z is the complex transform of pairs.
static uint64_t power(const complex32 *z, uint32_t count, uint32_t k, const int16_t *turns) {
  const complex32 a = z[k % count];
  const complex32 b = z[(count - k) % count];
  const complex32 even = {.re = a.re / 2 + b.re / 2, .im = a.im / 2 - b.im / 2};
  const complex32 odd = {.re = a.im / 2 + b.im / 2, .im = b.re / 2 - a.re / 2};
  const complex32 moved = turned(odd, turns + (size_t)2 * k);
  const int64_t re = (int64_t)even.re + moved.re;
  const int64_t im = (int64_t)even.im + moved.im;
  return (uint64_t)(re * re) + (uint64_t)(im * im);
}

// Logarithm of an energy with FRACTION fractional bits: each squaring gives one binary digit.
static int16_t log2_fixed(uint64_t energy) {
  if (energy >> FRACTION == 0) {
    return 0;
  }
  uint32_t whole = 63;
  while (energy >> whole == 0) {
    whole -= 1;
  }
  uint64_t mantissa =
      whole > MANTISSA ? energy >> (whole - MANTISSA) : energy << (MANTISSA - whole);
  uint32_t result = whole - FRACTION;
  for (uint32_t bit = 0; bit < LOG_FRACTION; ++bit) {
    mantissa = mantissa * mantissa >> MANTISSA;
    const uint32_t carry = (uint32_t)(mantissa >> (MANTISSA + 1));
    mantissa >>= carry;
    result = 2 * result + carry;
  }
  return (int16_t)result;
}

static void cosine_transform(const pl_log_mel_tables *tables, const int16_t *bands,
                             int16_t *values) {
  const int16_t *row = tables->cosines;
  for (uint32_t i = 0; i < tables->coefficients; ++i, row += tables->bands) {
    int64_t sum = 0;
    for (uint32_t band = 0; band < tables->bands; ++band) {
      sum += (int64_t)bands[band] * row[band];
    }
    values[i] = (int16_t)((sum + (1 << (MFCC_DROPPED - 1))) >> MFCC_DROPPED);
  }
}

pl_status pl_log_mel(const pl_log_mel_tables *tables, const int16_t *samples, int32_t *scratch,
                     uint32_t scratch_size, int16_t *values) {
  if (tables == NULL || samples == NULL || scratch == NULL || values == NULL) {
    return PL_ERROR_NULL;
  }
  if (scratch_size < tables->size) {
    return PL_ERROR_SCRATCH_SIZE;
  }
  const uint32_t count = tables->size / 2;
  const uint32_t dropped = log2_of(tables->size);
  complex32 *const z = (complex32 *)scratch;
  memset(scratch, 0, (size_t)tables->size * sizeof scratch[0]);
  for (uint32_t i = 0; i < tables->frame; ++i) {
    scratch[i] = samples[i] * tables->window[i] >> dropped;
  }
  transform(z, count, tables->turns);

  int16_t energies[MOST_BANDS];
  int16_t *const bands = tables->coefficients != 0 ? energies : values;
  const uint16_t *weight = tables->weights;
  for (uint32_t band = 0; band < tables->bands; ++band) {
    uint64_t energy = 0;
    for (uint32_t i = 0; i < tables->counts[band]; ++i) {
      const uint32_t line = tables->starts[band] + i;
      energy += (power(z, count, line, tables->turns) >> POWER_DROPPED) * *weight++;
    }
    bands[band] = log2_fixed(energy);
  }
  if (tables->coefficients != 0) {
    cosine_transform(tables, energies, values);
  }
  return PL_OK;
}
