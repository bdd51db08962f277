// SPDX-License-Identifier: Apache-2.0
//
// The device's features equal those of log_mel.py, to the bit.
#include <stddef.h>
#include <stdint.h>

#include "boards/common/expect.h"
#include "firmware/features/log_mel.h"
#include "tests/features/cases.h"
#include "tests/features/mfcc.h"
#include "tests/features/speech.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { UNTOUCHED = 12345 };

static int32_t scratch[MFCC_SCRATCH];

static void check(const pl_log_mel_tables *tables, const int16_t *samples, const int16_t *expected,
                  uint32_t count) {
  int16_t values[SPEECH_VALUES + 1] = {0};
  values[count] = UNTOUCHED;
  EXPECT_EQUAL(pl_log_mel(tables, samples, scratch, tables->size, values), PL_OK);
  for (uint32_t i = 0; i < count; ++i) {
    EXPECT_EQUAL(values[i], expected[i]);
  }
  EXPECT_EQUAL(values[count], UNTOUCHED);
}

int main(void) {
  for (size_t i = 0; i < COUNT(speech_samples); ++i) {
    check(&speech, speech_samples[i], speech_values[i], SPEECH_VALUES);
  }
  for (size_t i = 0; i < COUNT(mfcc_samples); ++i) {
    check(&mfcc, mfcc_samples[i], mfcc_values[i], MFCC_VALUES);
  }
  int16_t value = UNTOUCHED;
  const int16_t *const one = speech_samples[0];
  EXPECT_EQUAL(pl_log_mel(&speech, one, scratch, SPEECH_SCRATCH - 1, &value),
               PL_ERROR_SCRATCH_SIZE);
  EXPECT_EQUAL(pl_log_mel(NULL, one, scratch, SPEECH_SCRATCH, &value), PL_ERROR_NULL);
  EXPECT_EQUAL(pl_log_mel(&speech, NULL, scratch, SPEECH_SCRATCH, &value), PL_ERROR_NULL);
  EXPECT_EQUAL(pl_log_mel(&speech, one, NULL, SPEECH_SCRATCH, &value), PL_ERROR_NULL);
  EXPECT_EQUAL(pl_log_mel(&speech, one, scratch, SPEECH_SCRATCH, NULL), PL_ERROR_NULL);
  EXPECT_EQUAL(value, UNTOUCHED);
  return expect_report();
}
