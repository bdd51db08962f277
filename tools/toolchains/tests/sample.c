// SPDX-License-Identifier: Apache-2.0
//
// Uses headers of the C library, floating point and macros normally filled in from the clock.
#include <stdint.h>
#include <string.h>

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)

float CONCAT(sample_, ISA)(const float *values, uint32_t count);
const char *sample_time(void);

float CONCAT(sample_, ISA)(const float *values, uint32_t count) {
  float copy[16];
  memcpy(copy, values, (count < 16 ? count : 16) * sizeof copy[0]);
  float sum = 0.0f;
  for (uint32_t i = 0; i < count && i < 16; ++i) {
    sum += copy[i] * values[0];
  }
  return sum;
}

const char *sample_time(void) { return __FILE__ " " __DATE__ " " __TIME__; }
