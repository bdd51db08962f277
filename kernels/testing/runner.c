// SPDX-License-Identifier: Apache-2.0
#include "kernels/testing/runner.h"

#include "boards/common/print.h"

#define GUARD_BYTE 0xA5u

// Provided by the address sanitizer in host tests: makes any access to a range an error.
void __asan_poison_memory_region(const volatile void *address, size_t bytes) __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void *address, size_t bytes)
    __attribute__((weak));

static void poison(const uint8_t *address, uint32_t bytes) {
  if (__asan_poison_memory_region) __asan_poison_memory_region(address, bytes);
}

static void unpoison(const uint8_t *address, uint32_t bytes) {
  if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(address, bytes);
}

static float as_float(const uint8_t *bytes) {
  float value;
  __builtin_memcpy(&value, bytes, sizeof(value));
  return value;
}

static float magnitude(float value) { return value < 0.0f ? -value : value; }

static int float_matches(const pl_test_output *output, float result, float expected) {
  if (expected != expected) return result != result;
  if (result == expected) return 1;
  const float size = magnitude(expected);
  return magnitude(result - expected) <=
         output->tolerance * (size > output->floor ? size : output->floor);
}

// Both start with the case's name.
static int fail(const pl_test_case *test, const char *what) {
  pl_print(test->name);
  pl_print(what);
  return 1;
}

static int report_element(const pl_test_case *test, uint32_t index) {
  (void)fail(test, ": element ");
  pl_print_u32(index);
  return 1;
}

static int check_output(const pl_test_case *test, const pl_test_output *output) {
  const uint8_t *expected = output->expected;
  if (output->is_float) {
    for (uint32_t i = 0; i < output->bytes; i += 4) {
      const uint8_t *result = output->address + i;
      if (float_matches(output, as_float(result), as_float(expected + i))) continue;
      uint32_t result_bits;
      uint32_t expected_bits;
      __builtin_memcpy(&result_bits, result, 4);
      __builtin_memcpy(&expected_bits, expected + i, 4);
      (void)report_element(test, i / 4);
      pl_print(" has bits ");
      pl_print_hex32(result_bits);
      pl_print(", expected ");
      pl_print_hex32(expected_bits);
      pl_print("\n");
      return 1;
    }
    return 0;
  }
  for (uint32_t i = 0; i < output->bytes; ++i) {
    if (output->address[i] == expected[i]) continue;
    (void)report_element(test, i);
    pl_print(" is ");
    pl_print_i32((int8_t)output->address[i]);
    pl_print(", expected ");
    pl_print_i32((int8_t)expected[i]);
    pl_print("\n");
    return 1;
  }
  return 0;
}

static int is_in(const uint8_t *byte, const pl_test_input *input) {
  return input && byte >= input->address && byte < input->address + input->bytes;
}

// Contents of a byte of the arena before the call.
static uint8_t initial(const pl_test_case *test, const uint8_t *byte) {
  if (!is_in(byte, test->shared)) return GUARD_BYTE;
  return ((const uint8_t *)test->shared->contents)[byte - test->shared->address];
}

// Returns whether all bytes of the arena outside of outputs and scratch are unchanged.
static int guards_hold(const pl_test_case *test) {
  for (const uint8_t *byte = pl_test_arena; byte < pl_test_arena + PL_TEST_ARENA_BYTES; ++byte) {
    if (byte == test->scratch && test->scratch_bytes > 0) byte += test->scratch_bytes;
    for (uint32_t i = 0; i < test->output_count; ++i) {
      if (byte == test->outputs[i].address) byte += test->outputs[i].bytes;
    }
    if (*byte != initial(test, byte)) return 0;
  }
  return 1;
}

static int run_case(const pl_test_case *test) {
  for (uint8_t *byte = pl_test_arena; byte < pl_test_arena + PL_TEST_ARENA_BYTES; ++byte) {
    *byte = initial(test, byte);
  }
  poison(pl_test_arena, PL_TEST_ARENA_BYTES);
  unpoison(test->scratch, test->scratch_bytes);
  if (test->shared) unpoison(test->shared->address, test->shared->bytes);
  for (uint32_t i = 0; i < test->output_count; ++i) {
    unpoison(test->outputs[i].address, test->outputs[i].bytes);
  }
  const pl_context ctx = {test->scratch, test->scratch_bytes};
  pl_test_close(test->closed);
  const pl_status status = test->run(&ctx, test->params, test->dims, test->data);
  pl_test_close(NULL);
  unpoison(pl_test_arena, PL_TEST_ARENA_BYTES);

  if (status != PL_OK) {
    (void)fail(test, " returned ");
    pl_print(pl_status_name(status));
    pl_print("\n");
    return 1;
  }
  if (!guards_hold(test)) return fail(test, ": wrote outside its memory\n");
  int failures = 0;
  for (uint32_t i = 0; i < test->output_count; ++i) {
    failures |= check_output(test, &test->outputs[i]);
  }
  return failures;
}

// A kernel that uses scratch must refuse to run with a byte less.
static int check_scratch_refusal(const pl_test_case *test) {
  const pl_context ctx = {test->scratch, test->scratch_bytes - 1};
  const pl_status status = test->run(&ctx, test->params, test->dims, test->data);
  if (status == PL_ERROR_SCRATCH_SIZE) return 0;
  return fail(test, ": did not refuse scratch that is too small\n");
}

int pl_test_main(const pl_test_case *cases, uint32_t count) {
  uint32_t failures = 0;
  for (uint32_t i = 0; i < count; ++i) {
    int failed = run_case(&cases[i]);
    if (cases[i].scratch_bytes > 0) failed |= check_scratch_refusal(&cases[i]);
    failures += failed ? 1 : 0;
  }
  pl_print_u32(count - failures);
  pl_print(" of ");
  pl_print_u32(count);
  pl_print(" cases passed\n");
  if (failures > 0 || count == 0) {
    pl_print("PL:FAIL kernel cases\n");
    return 1;
  }
  pl_print("PL:PASS\n");
  return 0;
}
